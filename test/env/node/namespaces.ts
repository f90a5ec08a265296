import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

export const POD_NETWORK = "10.244.0.0/24";
/** The address of the node, and the gateway of its pods. */
export const NODE_ADDRESS = "10.244.0.1";
export const BRIDGE = "keyplane0";
/** By which pods know the API server: the first of the Services' range. */
export const API_SERVER_ADDRESS = "10.0.0.1";

/** The variable with the name of the cgroup, the same in each hierarchy, that the namespaces may use. */
export const CGROUP_VARIABLE = "KEYPLANE_NODE_CGROUP";

/**
 * Runs the command until standard input ends, be it because we are gone, however that came: then kills all that is in
 * its namespaces. BackgroundTask removes what a kernel does not remove by itself, cgroups and the folder.
 */
const OUTSIDE = `
folder=$1; cgroup=$2; shift 2
exec 3<&0
unshare --mount --net --pid --fork --mount-proc --kill-child sh -c "$INSIDE" sh "$@" </dev/null 3<&- & inside=$!
{ read -r _ <&3; kill -9 $inside; } & watch=$!
wait $inside; code=$?
kill $watch 2>/dev/null
# The last processes take a moment to go.
for try in $(seq 100); do
  left=$(find /sys/fs/cgroup/*/"$cgroup" -depth -type d ! -exec rmdir {} ';' -print 2>/dev/null)
  [ -z "$left" ] && break
  sleep 0.1
done
rm -rf "$folder"
exit $code
`;

/**
 * As the first process of its namespaces: what programs write for the whole machine stays in memory here, and the
 * network is a loopback and the bridge of the pods.
 */
const INSIDE = `
set -e
mount --make-rshared /
for folder in /run /var/log; do mount -t tmpfs -o mode=755 tmpfs $folder; done
mkdir /run/written /run/work
mount -t overlay -o lowerdir=/var/lib,upperdir=/run/written,workdir=/run/work overlay /var/lib
for hierarchy in /sys/fs/cgroup/*/; do mkdir "$hierarchy$CGROUP"; done
for file in cpuset.cpus cpuset.mems; do cat /sys/fs/cgroup/cpuset/$file >/sys/fs/cgroup/cpuset/$CGROUP/$file; done
ip link set lo up
ip address add $API_SERVER_ADDRESS/32 dev lo
# With an address of its own, or it would take those of pods that come and go, and others would look for it in vain.
ip link add $BRIDGE address 0a:58:0a:f4:00:01 type bridge
ip address add $NODE_ADDRESS/24 dev $BRIDGE
ip link set $BRIDGE up
ip route add default dev $BRIDGE
set +e
"$@"
exit $?
`;

/**
 * Runs a command in mount, network and process namespaces of its own, in which a node can be started. Nothing is left
 * of them when it ends, or when this process does, however that ends. Only where {@link whyImpossible} has no reason.
 *
 * @returns its exit code
 */
export async function runInNamespaces(command: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-node-"));
  // PostgreSQL, which keeps its data below, runs as a user of its own.
  await chmod(folder, 0o711);
  const cgroup = `keyplane-${randomBytes(4).toString("hex")}`;
  const variables = {
    ...{ INSIDE, BRIDGE, NODE_ADDRESS, API_SERVER_ADDRESS },
    ...{ CGROUP: cgroup, [CGROUP_VARIABLE]: cgroup, TMPDIR: folder },
  };
  // In a group of its own, so that an interrupt at the terminal reaches it through the end of its input alone.
  const shell = spawn("sh", ["-c", OUTSIDE, "sh", folder, cgroup, ...command], {
    stdio: ["pipe", "inherit", "inherit"],
    detached: true,
    env: { ...env, ...variables },
  });
  const [code] = await once(shell, "close");
  return code ?? 1;
}

/** Why this machine allows no such namespaces, and what would help; undefined where it does. */
export async function whyImpossible(): Promise<string | undefined> {
  if (process.platform !== "linux") return "this is not Linux";
  if (process.getuid?.() !== 0) return "only root can make namespaces and cgroups";
  const mounts = await readFile("/proc/mounts", "utf8");
  if (!/^\S+ \/sys\/fs\/cgroup\/cpuset cgroup rw/m.test(mounts)) return "there is no writable cgroup v1";
  const path = (process.env.PATH ?? "").split(delimiter);
  const isThere = (program: string) => path.some((folder) => existsSync(join(folder, program)));
  return ["unshare", "ip"].every(isThere) ? undefined : "unshare or ip is missing: install util-linux and iproute2";
}
