# shellcheck shell=bash
# A disk that is slow by a known measure: a file behind a loop device whose writes the kernel limits.

# Bytes that may wait in memory for such a disk: without a bound the page cache would hide it.
SLOW_DISK_DIRTY_BYTES=$((16 << 20))
SLOW_DISK_SIZE=16G

# bytes_of SIZE : such as 100m, in bytes.
bytes_of() {
  local number=${1%[kmgKMG]}
  [[ $number =~ ^[1-9][0-9]*$ ]] || die "expected bytes a second such as 100m, found '$1'"
  case $1 in
    *[kK]) echo $((number << 10)) ;;
    *[mM]) echo $((number << 20)) ;;
    *[gG]) echo $((number << 30)) ;;
    *) echo "$number" ;;
  esac
}

# mount_slow_disk DIR RATE : a file system at DIR that writes RATE bytes a second, until
# unmount_slow_disk. Needs root and the blkio controller of cgroup version 1, whose limit holds for
# what the kernel writes back, too.
mount_slow_disk() {
  local dir=$1 rate
  rate=$(bytes_of "$2")
  local limit=/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device
  [ "$(id -u)" -eq 0 ] || die "a slow disk needs root"
  [ -w "$limit" ] || die "a slow disk needs $limit, which is not there; use --local-dir with a slow one"
  mkdir -p "$dir/mount"
  truncate -s "$SLOW_DISK_SIZE" "$dir/image"
  mkfs.ext4 -q -F -O ^has_journal "$dir/image"
  SLOW_DISK_DIR=$dir
  SLOW_DISK_LOOP=$(losetup -f --show "$dir/image")
  SLOW_DISK_NUMBER=$(cat "/sys/block/${SLOW_DISK_LOOP#/dev/}/dev")
  trap unmount_slow_disk EXIT
  # With these the shell first waits for the benchmark, whose files would keep the disk busy.
  trap 'exit 143' HUP INT TERM
  mount "$SLOW_DISK_LOOP" "$dir/mount"
  echo "$SLOW_DISK_NUMBER $rate" >"$limit"
  local bdi="/sys/class/bdi/$SLOW_DISK_NUMBER"
  echo 1 >"$bdi/strict_limit"
  echo "$SLOW_DISK_DIRTY_BYTES" >"$bdi/max_bytes"
}

# unmount_slow_disk : removes what mount_slow_disk made, and its limits.
unmount_slow_disk() {
  local bdi="/sys/class/bdi/$SLOW_DISK_NUMBER"
  echo "$SLOW_DISK_NUMBER 0" >/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device
  echo 100 >"$bdi/max_ratio"
  echo 0 >"$bdi/strict_limit"
  # Executors may take a moment to end.
  local attempt
  for attempt in {1..30}; do
    umount "$SLOW_DISK_DIR/mount" 2>/dev/null && break
    [ "$attempt" -lt 30 ] || umount -l "$SLOW_DISK_DIR/mount" || true
    sleep 1
  done
  losetup -d "$SLOW_DISK_LOOP"
  rm -rf "$SLOW_DISK_DIR"
}
