import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { copyEmbedded } from "../database/embedded-database.ts";
import { startServing } from "../serving.ts";
import { findPulumi, findPulumiYaml } from "./cli.ts";

const PROVIDER = join(import.meta.dirname, "../../../infra/pulumi/provider/main.ts");

/** What the tests of a run share. */
export type PulumiAddress = {
  readonly cli: string;
  /** The PATH with which the CLI finds our provider, which finds the Node that runs this, and what runs YAML. */
  readonly path: string;
  /** Of `keyplane up`. */
  readonly url: string;
  /** With the installation's token. */
  readonly tokenFile: string;
};

/** Finds the CLI, and starts the embedded default of Keyplane without a declaration. */
export async function startPulumi(): Promise<{ address: PulumiAddress; close(): Promise<void> }> {
  const cli = await findPulumi();
  const folder = await mkdtemp(join(tmpdir(), "keyplane-pulumi-"));
  const [manifests, data, bin] = ["manifests", "data", "bin"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(manifests);
  await mkdir(bin);
  await copyEmbedded(join(data, "db"));
  await symlink(PROVIDER, join(bin, "pulumi-resource-keyplane"));
  await symlink(await findPulumiYaml(), join(bin, "pulumi-language-yaml"));
  const args = ["up", "--manifests", manifests, "--data", data, "--port", "0", "--admin-port", "0"];
  const server = await startServing(args, {});
  const path = [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
  return {
    address: { cli, path, url: server.url, tokenFile: join(data, "bootstrap-token") },
    async close() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
