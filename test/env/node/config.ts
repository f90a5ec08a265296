import { BRIDGE, NODE_ADDRESS, POD_NETWORK } from "./namespaces.ts";
import type { NodePrograms } from "./programs.ts";

/** Where containerd listens. */
export const SOCKET = "/run/containerd/containerd.sock";
/** Of the container that holds a pod's namespaces. */
export const PAUSE_IMAGE = "localhost/pause:test";

/** What containerd keeps is below the folder, where `cni/` names the network of the pods. */
export function containerdConfig(folder: string, { runc, cniFolder }: NodePrograms): string {
  return `
version = 2
root = "${folder}/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt"]

[grpc]
address = "${SOCKET}"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${PAUSE_IMAGE}"
disable_apparmor = true
# Without it no pod starts where the score of this process cannot be lowered.
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${cniFolder}"
conf_dir = "${folder}/cni"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "${runc}"
`;
}

/** Pods have addresses on the bridge, which leads nowhere else. */
export function networkConfig(): string {
  const range = { subnet: POD_NETWORK, rangeStart: "10.244.0.10", gateway: NODE_ADDRESS };
  const ipam = { type: "host-local", dataDir: "/run/addresses", ranges: [[range]], routes: [{ dst: "0.0.0.0/0" }] };
  const plugin = { type: "bridge", bridge: BRIDGE, isGateway: true, ipam };
  return JSON.stringify({ cniVersion: "1.0.0", name: "pods", plugins: [plugin] });
}

/** Looks at Secrets that pods mount once a second, and reserves and evicts nothing. */
export function kubeletConfig(folder: string, cgroup: string): string {
  const never = { "memory.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%" };
  return JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: `unix://${SOCKET}`,
    podLogsDir: "/var/log/pods",
    volumePluginDir: `${folder}/volume-plugins`,
    syncFrequency: "1s",
    resolvConf: "",
    // Of the namespaces' own network, which nothing else is in.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${cgroup}`,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    localStorageCapacityIsolation: false,
    makeIPTablesUtilChains: false,
    evictionHard: { ...never, "imagefs.available": "0%", "imagefs.inodesFree": "0%" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    // A container that is killed again and again comes back as soon as after the first time.
    crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
  });
}
