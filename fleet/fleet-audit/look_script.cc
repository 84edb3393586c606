#include "look.h"

namespace bk::fleet_audit {

const char* const kLookScript = R"sh(
unit=$1; root=$2
value() { [ -r "$root$2" ] && printf '%s=%s\n' "$1" "$(head -c 400 "$root$2" | tr '\n' ' ')"; }
value proactiveness /proc/sys/vm/compaction_proactiveness
tab=$(printf '\t')
# As at a boot: of files with one name the first folder's holds, they are read in the order of their names, and the last
# line wins. systemd reads /etc/sysctl.conf only where a link in sysctl.d leads to it.
persisted=$(
  for dir in etc run usr/local/lib usr/lib lib; do
    for file in "$root/$dir"/sysctl.d/*.conf; do [ ! -e "$file" ] || printf '%s\t%s\n' "${file##*/}" "$file"; done
  done | LC_ALL=C sort -s -u -t "$tab" -k 1,1 | cut -f 2- | {
    cat
    [ -d "$root/usr/lib/systemd" ] || echo "$root/etc/sysctl.conf"
  } | while IFS= read -r file; do
    sed -n 's/^[[:blank:]]*-\{0,1\}vm[./]compaction_proactiveness[[:blank:]]*=[[:blank:]]*\([0-9]*\).*/\1/p' "$file" 2>/dev/null
  done | tail -n 1
)
printf 'persisted=%s\n' "${persisted:-no}"
value thp_enabled /sys/kernel/mm/transparent_hugepage/enabled
value thp_defrag /sys/kernel/mm/transparent_hugepage/defrag
for name in kcompactd bluetoothd; do
  ticks=0; found=no
  for stat in "$root"/proc/[0-9]*/stat; do
    line=$(cat "$stat" 2>/dev/null) || continue
    case $line in
      *"($name"*) found=yes; rest=${line##*) }; set -- $rest; ticks=$((ticks + ${12} + ${13})) ;;
    esac
  done
  if [ $found = yes ]; then printf '%s_s=%s\n' $name $((ticks / $(getconf CLK_TCK))); else printf '%s_s=none\n' $name; fi
done
for name in thp_fault_alloc pgmigrate_success compact_stall; do
  sed -n "s/^$name \([0-9]*\)$/$name=\1/p" "$root/proc/vmstat" 2>/dev/null
done
[ -r "$root/proc/buddyinfo" ] && awk '{nine += $14; ten += $15} END {printf "order9=%d\norder10=%d\n", nine, ten}' "$root/proc/buddyinfo"
for port in "$root"/sys/class/infiniband/*/ports/*; do
  [ -d "$port/gid_attrs/types" ] || continue
  device=${port%/ports/*}; device=${device##*/}; first=none; i=0
  while [ $i -le 15 ]; do
    kind=$(cat "$port/gid_attrs/types/$i" 2>/dev/null); gid=$(cat "$port/gids/$i" 2>/dev/null)
    case $kind,$gid in
      'RoCE v2,0000:0000:0000:0000:0000:ffff:'*) [ $first = none ] && first=$i ;;
    esac
    i=$((i + 1))
  done
  printf 'gid.%s=%s\n' "$device" $first
done
for speed in "$root"/sys/class/net/*np0/speed; do
  [ -r "$speed" ] || continue
  link=${speed%/speed}; printf 'link.%s=%s\n' "${link##*/}" "$(cat "$speed" 2>/dev/null)"
done
value ipv6_off /proc/sys/net/ipv6/conf/all/disable_ipv6
if command -v systemctl >/dev/null 2>&1; then printf 'clock_unit=%s\n' "$(systemctl is-enabled "$unit" 2>/dev/null | head -n 1)"; fi
if command -v nvidia-smi >/dev/null 2>&1; then
  printf 'sm_mhz=%s\n' "$(nvidia-smi --query-gpu=clocks.max.sm,clocks.sm --format=csv,noheader,nounits 2>/dev/null | tr -d ' ' | tr '\n' ' ')"
fi
for tool in docker podman; do
  command -v $tool >/dev/null 2>&1 || continue
  left=$($tool ps -a --filter status=exited --filter status=dead --filter status=created --format '{{.Names}}' 2>/dev/null) &&
    printf 'leftovers.%s=%s\n' $tool "$(printf '%s' "$left" | tr '\n' ' ')"
done
echo end=yes
)sh";

}  // namespace bk::fleet_audit
