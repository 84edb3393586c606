# Completion of bracketkit's programs in bash. What can be completed is read from each program's own --help, so that it
# is never another version's.

_bracketkit_help() { "$@" --help 2>/dev/null </dev/null; }

# The words of a section's headings: flags, or subcommands.
_bracketkit_flags() { sed -nE 's/^ {7}(-.*)$/\1/p' | grep -oE -- '(^|[ ,])--?[A-Za-z][A-Za-z0-9-]*' | tr -d ' ,'; }
_bracketkit_commands() { sed -n '/^COMMANDS$/,/^$/s/^       \([a-z][a-z0-9-]*\)$/\1/p'; }

# What a flag takes: "choice ..." for a placeholder a|b, "none" for a switch, else the placeholder.
_bracketkit_value() {
  awk -v flag="$1" '
    /^       -/ {
      inside = 0
      n = split($0, words, /[ ,]+/)
      for (i = 1; i <= n; i++) if (words[i] == flag) { inside = 1; value = words[n] ~ /^-/ ? "none" : words[n] }
      next
    }
    /^[A-Z]/ || /^$/ { if (inside) exit }
    END {
      if (gsub(/\|/, " ", value)) print "choice " value
      else print value
    }'
}

_bracketkit() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local -a call=("$program")
  local help commands value
  COMPREPLY=()
  help=$(_bracketkit_help "$program") || return 0
  commands=$(_bracketkit_commands <<<"$help")
  if [ -n "$commands" ]; then
    if [ "$COMP_CWORD" = 1 ]; then
      mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$current")
      return 0
    fi
    call+=("${COMP_WORDS[1]}")
    help=$(_bracketkit_help "${call[@]}") || return 0
  fi
  if [[ $previous == -* ]]; then
    value=$(_bracketkit_value "$previous" <<<"$help")
    case $value in
      choice\ *)
        mapfile -t COMPREPLY < <(compgen -W "${value#choice }" -- "$current")
        return 0
        ;;
      none | "") ;;
      DIR)
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return 0
        ;;
      *FILE*)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return 0
        ;;
      *) return 0 ;;
    esac
  fi
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_bracketkit_flags <<<"$help")" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

complete -o filenames -F _bracketkit @BK_PROGRAMS@
