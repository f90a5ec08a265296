import type { Kind } from "../../domain/kinds/kinds.ts";
import type { CliCommand } from "../command/cli-command.ts";
import { UsageError } from "../command/usage-error.ts";
import { KIND_WORDS } from "./kind-words.ts";
import { type ListedObject, type ListFilter, listedKeyId, listMatching, type Source } from "./source.ts";

export type NamespaceFlags = { readonly namespace?: string; readonly allNamespaces?: true };

export function namespaceOptions(command: CliCommand): CliCommand {
  return command
    .option("-n, --namespace <name>", "the namespace (default: all)")
    .option("-A, --all-namespaces", "all namespaces, despite -n");
}

/** Returns the namespace of the flags; undefined for all. */
export function namespaceIn({ namespace, allNamespaces }: NamespaceFlags): string | undefined {
  return allNamespaces === true ? undefined : namespace;
}

/**
 * Combines a name argument and `-n` into a filter.
 *
 * @param named NAME, NAMESPACE/NAME or the id of a key; undefined for all
 * @throws UsageError if both name a namespace, or one is empty, as from an unset variable
 */
export function wantedOf(named: string | undefined, namespace: string | undefined): ListFilter {
  if (namespace === "") throw new UsageError("-n: name a namespace, or leave it out for all of them");
  if (named === undefined) return { namespace };
  // Of a secret nothing is said.
  if (named.startsWith("inf_")) throw new UsageError("that is the beginning of a secret: name the key instead");
  if (named.startsWith("key_")) return { namespace, id: named };
  const [first = "", second, ...rest] = named.split("/");
  if (first === "" || second === "" || rest.length > 0) throw new UsageError(`${named}: give NAME or NAMESPACE/NAME`);
  if (second === undefined) return { namespace, name: first };
  if (namespace !== undefined && namespace !== first) {
    throw new UsageError(`${named} and -n ${namespace} name two namespaces: give one of them`);
  }
  return { namespace: first, name: second };
}

/**
 * Finds the only object that a name means. Of several keys of one name at a server the key that is not revoked counts,
 * else the newest.
 *
 * @throws Error if there is none
 * @throws UsageError if there are several
 */
export async function findOne<K extends Kind>(source: Source, kind: K, wanted: ListFilter): Promise<ListedObject<K>> {
  const one = await findAtMostOne(source, kind, wanted);
  if (one !== undefined) return one;
  throw noneOf(kind, wanted);
}

/** @throws Error if no object has the name */
export async function requireSome(source: Source, kind: Kind, wanted: ListFilter): Promise<void> {
  if ((await listMatching(source, kind, wanted)).length === 0) throw noneOf(kind, wanted);
}

function noneOf(kind: Kind, wanted: ListFilter): Error {
  const [plural, singular] = KIND_WORDS[kind];
  return new Error(`there is no ${singular} ${titleOf(wanted)}: see keyplane get ${plural}`);
}

/**
 * Finds that object; undefined if there is none.
 *
 * @throws UsageError if there are several
 */
export async function findAtMostOne<K extends Kind>(
  source: Source,
  kind: K,
  wanted: ListFilter,
): Promise<ListedObject<K> | undefined> {
  const found = await listMatching(source, kind, wanted);
  const living = found.filter(({ state }) => state !== "revoked");
  const newest = found.toSorted((a, b) => createdAt(b).localeCompare(createdAt(a)));
  const [one, another] = living.length > 0 ? living : newest.slice(0, 1);
  if (another !== undefined) throw new UsageError(several(titleOf(wanted), KIND_WORDS[kind][0], living));
  return one;
}

function titleOf({ namespace, name, id }: ListFilter): string {
  return [namespace, name, id].filter((part) => part !== undefined).join("/");
}

const createdAt = ({ metadata }: ListedObject): string => metadata.creationTimestamp ?? "";

function several(title: string, plural: string, found: readonly ListedObject[]): string {
  const namespaces = [...new Set(found.map(({ metadata }) => metadata.namespace))];
  if (namespaces.length > 1 && !namespaces.includes("")) {
    return `there are ${plural} ${title} in ${namespaces.join(", ")}: say which with -n NAMESPACE`;
  }
  const ids = found.flatMap((object) => listedKeyId(object) ?? []);
  const advice = ids.length > 0 ? `say which by its id: ${ids.join(", ")}` : `see keyplane get ${plural}`;
  return `there are ${found.length} ${plural} ${title}, ${whereAre(found, namespaces)}: ${advice}`;
}

/** Returns what tells objects of one name apart, which no namespace alone does. */
function whereAre(found: readonly ListedObject[], namespaces: readonly string[]): string {
  const teams = [...new Set(found.flatMap(({ status }) => (status && "team" in status ? [status.team] : [])))];
  if (teams.length > 1) return `in the teams ${teams.join(", ")}`;
  if (namespaces.length === 1) return "in several clusters";
  return `in ${namespaces.map((namespace) => namespace || "no namespace").join(" and in ")}`;
}
