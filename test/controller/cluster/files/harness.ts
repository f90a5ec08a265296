import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TestContext } from "vitest";
import { type FilesLogLine, openFilesCluster } from "../../../../controller/cluster/files/cluster.ts";
import { type HeldNote, readHeld } from "../../../../controller/cluster/files/held.ts";
import type { ClusterChange } from "../../../../controller/cluster/port.ts";
import { makeDatabaseFolder } from "../../../env/database/database-folder.ts";

export const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** A folder of its own that goes with the test. */
export async function makeFolder({ onTestFinished }: Pick<TestContext, "onTestFinished">): Promise<string> {
  const folder = makeDatabaseFolder("keyplane-files-");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export type Workspace = {
  readonly manifests: string;
  readonly data: string;
  /** Writes a manifest as careful tools do: whole, or not at all. */
  write(file: string, ...documents: string[]): Promise<void>;
  remove(file: string): Promise<void>;
  /** Writes into the file that is there, as a shell's `>` and many editors do. */
  writeInto(file: string, ...documents: string[]): Promise<void>;
  open(): Promise<OpenCluster>;
  /** Lets so many milliseconds pass for those who wait. */
  pass(ms: number): void;
  /** What DATA says is held, with why. */
  held(): Promise<readonly HeldNote[]>;
  /** What the status file of an object in the namespace `dev` shows, or undefined when there is none. */
  shown(kind: string, name: string): Promise<unknown>;
};

export type OpenCluster = Awaited<ReturnType<typeof openFilesCluster>> & {
  readonly log: FilesLogLine[];
  readonly changes: ClusterChange[];
  /** The lines of the log that contain the text. */
  said(text: string): string[];
};

/**
 * Folders for manifests and DATA, with files as given.
 *
 * @param ahead milliseconds by which its clock is ahead of the files' times: with a second, each file counts at once
 */
export async function makeWorkspace(
  context: Pick<TestContext, "onTestFinished">,
  files: Record<string, readonly string[]> = {},
  ahead = 0,
): Promise<Workspace> {
  const root = await makeFolder(context);
  const [manifests, data] = [join(root, "manifests"), join(root, "data")];
  await mkdir(manifests);
  const write = async (file: string, ...documents: string[]) => {
    const path = join(manifests, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.part`, documents.join("---\n"));
    await rename(`${path}.part`, path);
  };
  for (const [file, documents] of Object.entries(files)) await write(file, ...documents);
  let passed = 0;
  const ownClock = { now: () => clock.now() + ahead, monotonic: () => clock.monotonic() + passed };
  return {
    writeInto: (file, ...documents) => writeFile(join(manifests, file), documents.join("---\n")),
    pass(ms) {
      passed += ms;
    },
    held: () => readHeld(data),
    manifests,
    data,
    write,
    remove: (file) => rm(join(manifests, file)),
    shown: async (kind, name) => {
      const text = await readFile(join(data, "status/dev", kind, `${name}.json`), "utf8").catch(() => undefined);
      return text === undefined ? undefined : JSON.parse(text);
    },
    async open() {
      const log: FilesLogLine[] = [];
      const changes: ClusterChange[] = [];
      const randomUuid = () => crypto.randomUUID();
      const cluster = await openFilesCluster({
        ...{ manifests, data, clock: ownClock, randomUuid },
        log: (line) => log.push(line),
      });
      context.onTestFinished(() => cluster.close());
      await cluster.watch((change) => changes.push(change), new AbortController().signal);
      return Object.assign(cluster, {
        log,
        changes,
        said: (text: string) => log.map(({ message }) => message).filter((message) => message.includes(text)),
      });
    },
  };
}

export const key = (name: string, spec = "preset: MCPReadOnly", namespace = "dev"): string =>
  `apiVersion: keyplane.dev/v1alpha1\nkind: PlatformKey\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec:\n  displayName: ${name}\n  ${spec}\n`;

export const library = (name: string, displayName = name): string =>
  `apiVersion: keyplane.dev/v1alpha1\nkind: MemoryLibrary\nmetadata: { name: ${name}, namespace: dev }\nspec: { displayName: ${displayName} }\n`;

export const secret = (name: string, value: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: { name: ${name}, namespace: dev }\nstringData: { api-key: ${value} }\n`;
