import { isDeepStrictEqual } from "node:util";
import type { Absence } from "../../controller/cluster/files/absence.ts";
import { listTitles, titleOf } from "../../controller/cluster/titles.ts";
import type { Environment } from "../../domain/environment.ts";
import { type Diagnostic, formatDiagnostic } from "../../domain/manifest/diagnostic.ts";
import { KINDS, type Kind } from "../../domain/manifest/kinds.ts";
import { findDuplicates } from "../../domain/manifest/manifest-set.ts";
import type { AddCommand } from "../command.ts";
import { setting } from "../config.ts";
import { isRunning } from "../data-folder.ts";
import { MAX_TITLES } from "../held.ts";
import { openManagement } from "../management-client.ts";
import { findAbsent, listManifestFiles, readManifestFile, readStdin } from "../manifest-files.ts";
import { readStatusFiles, type StatusObject } from "../status-files.ts";
import { UsageError } from "../usage-error.ts";
import { decideFolderRemoval, decideSettled, onlyFolder } from "./folder-removal.ts";
import { forecastKey } from "./key-forecast.ts";
import { keyLines, objectLines } from "./plan-lines.ts";
import { type Declared, isOfKind, type PlanWorld, worldOf } from "./plan-world.ts";

export const addPlan: AddCommand = (program, { env, out, exit }) => {
  program
    .command("plan")
    .description("show what applying manifests would do to the keys, without doing it")
    .option("-f, --filename <path...>", "files and folders: all that shall be declared; - is standard input")
    .setting("--data <dir>", "compare with this data folder of keyplane up; without it everything is new")
    .example("keyplane plan -f manifests --data .keyplane", "what saving these would do to what runs there")
    .example("keyplane plan -f manifests", "what they would make where nothing is")
    .action(async (flags) => {
      const data = setting(env, "data", flags.data);
      const paths = flags.filename ?? [];
      exit(await runPlan({ paths, data, stdin: await readStdin(paths) }, env, out, Date.now()));
    });
};

type PlanOptions = {
  readonly paths: readonly string[];
  readonly data?: string | undefined;
  /** What came by standard input, where a path is `-`. */
  readonly stdin?: string | undefined;
};

/** What is declared and held now, as `up` shows it. */
type Held = StatusObject<Kind> & { readonly kind: Kind };

/**
 * `keyplane plan`: what applying these manifests would do, one line each, by the same decisions as the controller's.
 *
 * @param now milliseconds since the epoch
 * @returns the exit code: 1 where something is refused
 */
export async function runPlan(
  { paths, data, stdin }: PlanOptions,
  env: Environment,
  out: (line: string) => void,
  now: number,
): Promise<number> {
  const held = data === undefined ? [] : await readHeld(data);
  const heldBy = new Map(held.map((object) => [titleOf({ kind: object.kind, ...object.metadata }), object]));
  const read = readAll(paths, stdin, (title) => heldBy.get(title)?.spec);
  const errors = read.diagnostics.filter(({ severity }) => severity === "error");

  const before = worldOf(held.flatMap(asDeclared));
  const folder = onlyFolder(paths);
  const removal =
    folder === undefined || data === undefined
      ? decideRemovalFrom(before.objects, read, errors.length)
      : await decideFolderRemoval(folder, data, before.objects);
  const gone = new Set(removal.remove.map(titleOf));
  // A second declaration of what is held does not count.
  const asBefore = new Set(removal.hold.map(({ missing }) => titleOf(missing)));
  const declared = new Map([...read.declared].filter(([title]) => !asBefore.has(title)));
  const staying = before.objects.filter((object) => !gone.has(titleOf(object)) && !declared.has(titleOf(object)));
  const after = worldOf([...declared.values(), ...staying], before);

  const lines = [
    ...errors.map((diagnostic) => `! refuse ${formatDiagnostic(diagnostic)}`),
    ...[...Map.groupBy(removal.hold, ({ why }) => why)].map(
      ([why, all]) =>
        `! held as before: ${listTitles(
          all.map(({ missing }) => missing),
          MAX_TITLES,
        )}: ${why}`,
    ),
    ...objectLines(before.objects, after.objects),
    ...forecastLines({ before, after, heldBy, secrets: read.secrets, now }, await lastUses(env, data)),
  ];
  for (const line of lines) out(line);
  out(summary(lines));
  return errors.length > 0 ? 1 : 0;
}

type Comparison = {
  readonly before: PlanWorld;
  readonly after: PlanWorld;
  readonly heldBy: ReadonlyMap<string, Held>;
  readonly secrets: ReadonlySet<string>;
  readonly now: number;
};

function forecastLines(
  { before, after, heldBy, secrets, now }: Comparison,
  uses: ReadonlyMap<string, number | null>,
): string[] {
  const wanted = new Map(
    after.objects.filter((object) => isOfKind(object, "PlatformKey")).map((key) => [titleOf(key), key]),
  );
  const held = new Map(
    [...heldBy].flatMap(([title, object]) =>
      object.kind === "PlatformKey" ? [[title, object as StatusObject<"PlatformKey">] as const] : [],
    ),
  );
  const secretInTheWay = (namespace: string, name: string) => secrets.has(`${namespace}/${name}`);
  return [...new Set([...wanted.keys(), ...held.keys()])].sort().flatMap((title) => {
    const input = { declared: wanted.get(title), object: held.get(title), before, after, secretInTheWay, now };
    return keyLines(input, forecastKey(input), (keyId) => uses.get(keyId));
  });
}

/** Everything that `up` holds; what was never admitted, or is on its way out, counts as not there. */
async function readHeld(data: string): Promise<Held[]> {
  const kinds = KINDS.map(async (kind) => (await readStatusFiles(data, kind)).map((object) => ({ ...object, kind })));
  const objects: Held[] = (await Promise.all(kinds)).flat();
  return objects.filter(({ metadata, spec }) => spec !== undefined && metadata.deletionTimestamp === undefined);
}

function asDeclared({ kind, metadata, spec }: Held): Declared[] {
  return spec === undefined ? [] : [{ kind, namespace: metadata.namespace, name: metadata.name, spec, takeOver: null }];
}

/**
 * What the manifests declare: of objects that are declared twice, the one that says what is held, or else the first.
 */
function readAll(paths: readonly string[], stdin: string | undefined, storedSpec: (title: string) => Held["spec"]) {
  if (paths.length === 0) throw new UsageError("nothing to plan: name a folder of manifests with -f");
  const absent = findAbsent(paths);
  if (absent !== undefined) throw new UsageError(`${absent}: no such file or folder`);
  const files = [...new Set(paths.flatMap(listManifestFiles))].map((file) =>
    readManifestFile(file, {
      stdin,
      storedSpec: (kind, namespace, name) => storedSpec(titleOf({ kind, namespace, name })),
    }),
  );
  const entries = files.flatMap((file) => file.entries);
  const declared = new Map<string, Declared>();
  const titles = new Set<string>();
  const secrets = new Set<string>();
  for (const { read } of entries) {
    const { identity, manifest } = read;
    if (identity === undefined) continue;
    if (identity.kind === "Secret") {
      secrets.add(`${identity.namespace}/${identity.name}`);
      continue;
    }
    const title = titleOf({ ...identity, kind: identity.kind });
    titles.add(title);
    if (manifest === undefined || manifest.kind === "Secret") continue;
    if (!declared.has(title) || isDeepStrictEqual(manifest.spec, storedSpec(title))) declared.set(title, manifest);
  }
  const diagnostics: Diagnostic[] = [...files.flatMap((file) => file.diagnostics), ...findDuplicates(entries)];
  return { declared, titles, secrets, diagnostics, documents: entries.length };
}

/** What `up` would remove if these files were all that is declared, of which nothing else is known. */
function decideRemovalFrom(held: readonly Declared[], read: ReturnType<typeof readAll>, errors: number) {
  const absence: Absence =
    errors === 0
      ? { is: "deliberate" }
      : { is: "held", why: "nothing is removed before every fault in the manifests is mended." };
  const missing = held.filter((object) => !read.titles.has(titleOf(object))).map((one) => ({ ...one, absence }));
  return decideSettled(read, missing, held);
}

/** When each key was last used, by its id. Empty where `up` does not run. */
async function lastUses(env: Environment, data: string | undefined): Promise<Map<string, number | null>> {
  if (data === undefined || !(await isRunning(data))) return new Map();
  const keys = await openManagement(env, { data }).then((client) => client.listKeys());
  return new Map(keys.map(({ id, lastUsedAt }) => [id, lastUsedAt === null ? null : Date.parse(lastUsedAt)]));
}

function summary(lines: readonly string[]): string {
  if (lines.length === 0) return "nothing would change";
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return `${count("+")} to create, ${count("~")} to change, ${count("-")} to end, ${count("!")} to look at`;
}
