import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readImageConfig } from "./image-root.ts";

/**
 * As the first process of its namespaces: the root is read only, there are a process table and the two devices that
 * every container has, and what runs is another user without capabilities, who can get none.
 */
const INSIDE = `
set -e
root=$1; user=$2; volume=$3; shift 3
mount --bind "$root" "$root"
if [ -n "$volume" ]; then mount --bind "$volume" "$root/data"; fi
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for device in null urandom; do touch "$root/dev/$device"; mount --bind /dev/$device "$root/dev/$device"; done
mount -o remount,ro "$root/dev"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+sys_chroot,+setuid,+setgid \
  chroot --userspec="$user" --groups= "$root" "$@"
`;

/**
 * Runs the image's command as a container of a restricted pod does: read-only root, the image's user, no capabilities,
 * no new privileges, first process. The network is the machine's. Only as root on Linux.
 *
 * @param root found by `findImageRoot`
 * @param volume a folder that its `/data` is, the one place where it may write; without one there is none
 */
export function runContained(
  root: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  volume = "",
): ChildProcess {
  const { entrypoint, user, env: ofImage } = readImageConfig();
  const namespaces = ["--mount", "--pid", "--fork", "--kill-child"];
  const command = ["sh", "-c", INSIDE, "sh", root, user, volume, ...entrypoint, ...args];
  return spawn("unshare", [...namespaces, ...command], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, ...ofImage, ...env },
  });
}

/** The first process of a container, as this machine sees it. */
export function firstProcessOf(container: ChildProcess): number {
  return Number(execFileSync("ps", ["-o", "pid=", "--ppid", String(container.pid)], { encoding: "utf8" }));
}

/**
 * Ends a container at once, if it runs. Its first process would outlive what has started it: with the change of its user
 * Linux forgets that the one is to end with the other.
 */
export function killContainer(container: ChildProcess): void {
  if (container.exitCode === null) process.kill(firstProcessOf(container), "SIGKILL");
}
