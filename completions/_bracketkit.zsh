#compdef @BK_PROGRAMS@
# Completion of bracketkit's programs in zsh, read from each program's own --help.

local program=$words[1] current=$words[CURRENT] previous=$words[CURRENT-1] help value
local -a call=($program) commands flags
help=$($program --help 2>/dev/null </dev/null) || return 1
commands=(${(f)"$(print -r -- $help | sed -n '/^COMMANDS$/,/^$/s/^       \([a-z][a-z0-9-]*\)$/\1/p')"})
if (( $#commands )); then
  if (( CURRENT == 2 )); then
    compadd -- $commands --help --version
    return
  fi
  call+=($words[2])
  help=$($call --help 2>/dev/null </dev/null) || return 1
fi
if [[ $previous == -* ]]; then
  value=$(print -r -- $help | awk -v flag="$previous" '
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
    }')
  case $value in
    (choice\ *) compadd -- ${=value#choice }; return ;;
    (none|"") ;;
    (DIR) _files -/; return ;;
    (*FILE*) _files; return ;;
    (*) return 0 ;;
  esac
fi
if [[ $current == -* ]]; then
  flags=(${(f)"$(print -r -- $help | sed -nE 's/^ {7}(-.*)$/\1/p' | grep -oE -- '(^|[ ,])--?[A-Za-z][A-Za-z0-9-]*' | tr -d ' ,')"})
  compadd -- $flags
else
  _files
fi
