import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What OCI calls a descriptor: a blob of the archive. */
type Blob = { readonly mediaType: string; readonly digest: string; readonly size: number };

const OCI = "application/vnd.oci.image";
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** What an image says of its containers, in OCI's words. */
export type Config = {
  readonly Entrypoint: readonly string[];
  readonly User?: string;
  readonly Env?: readonly string[];
};

/**
 * Packs a folder as images that differ in what their containers run: one OCI archive.
 *
 * @param root the root file system of each
 * @param configs by the names of the images, with their tags
 * @param archive the path to write
 */
export async function packImages(
  root: string,
  configs: Readonly<Record<string, Config>>,
  archive: string,
): Promise<void> {
  const work = await mkdtemp(`${archive}-`);
  try {
    const layout = join(work, "layout");
    await mkdir(join(layout, "blobs/sha256"), { recursive: true });
    const add = (mediaType: string, content: unknown) => addBlob(layout, mediaType, JSON.stringify(content));

    const file = join(work, "layer.tar");
    await run("tar", ["--create", "--file", file, "--owner=0", "--group=0", "--directory", root, "."]);
    const layer = await moveBlob(layout, `${OCI}.layer.v1.tar`, file);
    const manifests: object[] = [];
    for (const [name, config] of Object.entries(configs)) {
      const described = await add(`${OCI}.config.v1+json`, {
        os: "linux",
        architecture: ARCHITECTURES[process.arch] ?? process.arch,
        config: { WorkingDir: "/", ...config },
        rootfs: { type: "layers", diff_ids: [layer.digest] },
      });
      const manifest = await add(`${OCI}.manifest.v1+json`, {
        schemaVersion: 2,
        mediaType: `${OCI}.manifest.v1+json`,
        config: described,
        layers: [layer],
      });
      const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name };
      manifests.push({ ...manifest, annotations });
    }
    await writeFile(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
    await writeFile(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await run("tar", ["--create", "--file", archive, "--directory", layout, "."]);
  } finally {
    await rm(work, { recursive: true });
  }
}

async function addBlob(layout: string, mediaType: string, content: string): Promise<Blob> {
  const file = join(layout, "new");
  await writeFile(file, content);
  return moveBlob(layout, mediaType, file);
}

async function moveBlob(layout: string, mediaType: string, file: string): Promise<Blob> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  const digest = hash.digest("hex");
  const { size } = await stat(file);
  await rename(file, join(layout, "blobs/sha256", digest));
  return { mediaType, digest: `sha256:${digest}`, size };
}
