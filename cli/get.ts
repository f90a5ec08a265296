import { Option } from "commander";
import { findCondition } from "../domain/conditions.ts";
import type { Environment } from "../domain/environment.ts";
import type { Kind } from "../domain/manifest/kinds.ts";
import type { KeyJson } from "../server/management/keys/key-json.ts";
import type { CliCommand } from "./cli-command.ts";
import { type AddCommand, required } from "./command.ts";
import { setting } from "./config.ts";
import { isRunning } from "./data-folder.ts";
import { heldGroups, heldReasons, heldText } from "./held.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management-client.ts";
import { readStatusFiles, type StatusObject } from "./status-files.ts";
import { formatTable } from "./table.ts";

export const addGet: AddCommand = (program, { env, out }) => {
  const get = program.command("get").description("show what is declared, and its state");
  const output = (command: CliCommand) =>
    command.addOption(new Option("-o, --output <format>", "instead of a table").choices(["json"]));
  output(serverOptions(get.command("keys").description("the declared keys; with --server, every key that is stored")))
    .example("keyplane get keys --data .keyplane", "the declared keys of keyplane up")
    .example("keyplane get keys --server https://keys.example.com --token-file token -o json", "all keys of a server")
    .action(async (flags) => {
      const server = flags.server ?? (flags.data === undefined ? setting(env, "server", undefined) : undefined);
      const text =
        server === undefined
          ? await getObjects("PlatformKey", required(env, "data", flags.data), flags.output)
          : await getStoredKeys(env, { ...flags, server }, flags.output);
      out(text);
    });
  for (const [name, kind] of Object.entries(OTHERS)) {
    output(get.command(name).description(`the declared ${name}`))
      .setting("--data <dir>", "the data folder of keyplane up")
      .example(`keyplane get ${name} --data .keyplane`, `the declared ${name} of keyplane up`)
      .action(async (flags) => out(await getObjects(kind, required(env, "data", flags.data), flags.output)));
  }
};

const OTHERS = { teams: "PlatformTeam", gateways: "ModelGateway", libraries: "MemoryLibrary" } as const;

/** A column: its heading, and what an object has there. */
type Columns<T> = readonly (readonly [heading: string, cell: (object: T) => string | undefined])[];

const NAMED: Columns<StatusObject<Kind>> = [
  ["NAMESPACE", ({ metadata }) => metadata.namespace],
  ["NAME", ({ metadata }) => metadata.name],
  ["READY", (object) => readiness(object)?.status ?? "Unknown"],
  ["REASON", (object) => readiness(object)?.reason],
];

const COLUMNS: { readonly [K in Kind]: Columns<StatusObject<K>> } = {
  PlatformKey: [
    ...NAMED,
    ["PREFIX", ({ status }) => status?.keyPrefix],
    ["SCOPES", ({ status }) => status?.effectiveScopes?.join(",")],
    ["SECRET", ({ status }) => status?.secretRef?.name],
    ["EXPIRES", ({ status }) => status?.expiresAt ?? "never"],
  ],
  PlatformTeam: [
    ...NAMED.slice(1),
    ["NAMESPACES", ({ spec }) => spec?.namespaces.join(",")],
    ["MEMBERS", ({ spec }) => String(spec?.members.length ?? 0)],
  ],
  ModelGateway: [
    ...NAMED,
    ["PUBLIC ID", ({ status }) => status?.publicID],
    ["UPSTREAMS", ({ spec }) => spec?.upstreams.map(({ name }) => name).join(",")],
    ["ROUTES", ({ spec }) => spec?.routes.map(({ model }) => model).join(",")],
  ],
  MemoryLibrary: [
    ...NAMED,
    ["DISPLAY NAME", ({ spec }) => spec?.displayName],
    ["ON DELETE", ({ spec }) => spec?.deletionPolicy],
  ],
};

const STORED_KEY: Columns<KeyJson> = [
  ["NAMESPACE", ({ namespace }) => namespace],
  ["NAME", ({ name }) => name],
  ["STATE", ({ state }) => state],
  ["PREFIX", ({ prefix }) => prefix ?? undefined],
  ["TEAM", ({ team }) => team],
  ["SCOPES", ({ scopes }) => scopes.join(",")],
  ["LAST USED", ({ lastUsedAt }) => lastUsedAt ?? "never"],
  ["EXPIRES", ({ expiresAt }) => expiresAt ?? "never"],
  ["ID", ({ id }) => id],
];

/** The objects of one kind in an embedded installation as text: a table, or a JSON list as kubectl would print it. */
export async function getObjects<K extends Kind>(kind: K, data: string, output?: string): Promise<string> {
  const objects = await readStatusFiles(data, kind);
  const [reasons, isUp] = [await heldReasons(data), await mayRun(data)];
  const items = objects.map((object) => {
    const why = reasons.get(`${kind}/${refOf(object)}`);
    return asDeclared(object, why === undefined || isUp ? why : `when keyplane up ended: ${why}`);
  });
  const text = format(COLUMNS[kind], objects, output, { apiVersion: "v1", kind: "List", items });
  if (output === "json") return text;
  const held = (await heldGroups(data, kind)).map(({ titles, why }) => `${heldText(isUp)}: ${titles}\n  ${why}`);
  return [text, ...held, ...(isUp ? [] : [NOT_RUNNING])].join("\n\n");
}

const NOT_RUNNING =
  "keyplane up is not running on this folder: this is how it left things, and nothing is reconciled or served";

/** Whoever may not write in the folder cannot tell. */
function mayRun(data: string): Promise<boolean> {
  return isRunning(data).catch(() => true);
}

const refOf = ({ metadata: { namespace, name } }: StatusObject<Kind>): string => `${namespace}/${name}`;

/** What belongs to the whole cluster has no namespace, not an empty one. What is held says so in an annotation. */
function asDeclared(object: StatusObject<Kind>, held: string | undefined): object {
  const { namespace, ...rest } = object.metadata;
  const annotations = held === undefined ? {} : { annotations: { [HELD_ANNOTATION]: held } };
  return { ...object, metadata: { ...rest, ...(namespace === "" ? {} : { namespace }), ...annotations } };
}

/** Why an object goes on though its declaration is gone or faulty. */
const HELD_ANNOTATION = "keyplane.dev/held";

/** The keys that a server knows, with `--server`. */
async function getStoredKeys(env: Environment, choice: ServerChoice, output?: string): Promise<string> {
  const keys = await (await openManagement(env, choice)).listKeys();
  const order = (key: KeyJson) => `${key.namespace}/${key.name}`;
  const items = keys.toSorted((a, b) => order(a).localeCompare(order(b)));
  return format(STORED_KEY, items, output, { items });
}

function format<T>(columns: Columns<T>, objects: readonly T[], output: string | undefined, list: object): string {
  if (output === "json") return JSON.stringify(list, null, 2);
  if (objects.length === 0) return "there are none";
  return formatTable(
    columns.map(([heading]) => heading),
    objects.map((object) => columns.map(([, cell]) => cell(object) ?? "")),
  );
}

/** What the object is, all in all: its Ready condition, or why it was not admitted. */
export function readiness({ status }: StatusObject<Kind>) {
  return findCondition(status?.conditions, "Ready") ?? status?.conditions?.[0];
}
