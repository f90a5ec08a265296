/**
 * Builds what the suites take besides npm, into the cache, so that it is there when they ask. It imports nothing but
 * Node's own modules and ours: it runs while `npm ci` does.
 */
import { findActionlint } from "./actionlint.ts";
import { findGlua } from "./glua.ts";
import { findHelm } from "./helm.ts";
import { findBinaries } from "./kubernetes/binaries.ts";
import { findNodePrograms } from "./node/programs.ts";
import { findTofu } from "./opentofu/cli.ts";
import { findPromtool } from "./promtool.ts";
import { findPulumi, findPulumiSdks, findPulumiYaml } from "./pulumi/cli.ts";
import { findProxy } from "./python-proxies.ts";

// In the order in which they are waited for. What cannot be built fails the suites that need it, and they say why.
for (const find of [
  () => findProxy("envoy"),
  () => findProxy("caddy"),
  () => findProxy("traefik"),
  findBinaries,
  findHelm,
  findPromtool,
  findGlua,
  findActionlint,
  findNodePrograms,
  findPulumi,
  findPulumiYaml,
  findPulumiSdks,
  findTofu,
]) {
  await find().catch((error: unknown) => console.error(String(error)));
}
