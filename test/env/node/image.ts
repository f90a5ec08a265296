import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { librariesOf } from "../image-root.ts";

const run = promisify(execFile);

/** What OCI calls a descriptor: a blob of the archive. */
type Blob = { readonly mediaType: string; readonly digest: string; readonly size: number };

const OCI = "application/vnd.oci.image";
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** What an image has beside its program: paths below a folder of this machine, which it has below another. */
export type Files = { readonly from: string; readonly paths: readonly string[]; readonly to: string };

/**
 * Packs one program of this machine, with the libraries that it needs, as an OCI archive.
 *
 * @param name of the image, with a tag
 * @param command the program's path and its first arguments
 * @param archive the path to write
 * @param files nothing else is in the image
 */
export async function packImage(
  name: string,
  command: readonly string[],
  archive: string,
  files?: Files,
): Promise<void> {
  const work = await mkdtemp(`${archive}-`);
  try {
    const root = join(work, "root");
    const [program = "", ...args] = command;
    const path = await realpath(program);
    for (const file of [path, ...(await librariesOf(path))]) {
      await mkdir(join(root, dirname(file)), { recursive: true });
      await cp(file, join(root, file), { dereference: true });
    }
    const layout = join(work, "layout");
    await mkdir(join(layout, "blobs/sha256"), { recursive: true });
    const add = (mediaType: string, content: unknown) => addBlob(layout, mediaType, JSON.stringify(content));

    const layer = async (args: readonly string[]) => {
      const file = join(work, "layer.tar");
      await run("tar", ["--create", "--file", file, "--owner=0", "--group=0", "--dereference", ...args]);
      return moveBlob(layout, `${OCI}.layer.v1.tar`, file);
    };
    const layers = [await layer(["--directory", root, "."])];
    if (files !== undefined) {
      layers.push(await layer(["--directory", files.from, `--transform=s,^,${files.to}/,`, ...files.paths]));
    }
    const config = await add(`${OCI}.config.v1+json`, {
      os: "linux",
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
      config: { Entrypoint: [path, ...args], WorkingDir: "/" },
      rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
    });
    const manifest = await add(`${OCI}.manifest.v1+json`, {
      schemaVersion: 2,
      mediaType: `${OCI}.manifest.v1+json`,
      config,
      layers,
    });
    const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name };
    const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
    await writeFile(join(layout, "index.json"), JSON.stringify(index));
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
