import { MAX_USED_LIBRARIES } from "../../access/used-library.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { type AdvicePoint, type AdvisedSpec, type KeyUse, requestsWithin } from "./key-use.ts";

/** Maximum number of libraries named in a sentence. */
const MAX_NAMED = 10;

type LibraryName = { readonly namespace: string; readonly name: string };
type LibraryRef = NonNullable<AdvisedSpec["mcpDefaultLibraryRef"]>;

/** Fields that a key may have only with a scope of the memory. */
const OF_MEMORY = ["libraryAccess", "mcpDefaultLibraryRef", "subjectAccess"] as const;

/**
 * Advises the libraries that the key has used, if it may reach more. Without calls of the memory there is no advice,
 * unless the advised scopes rule out the fields of the memory that it declares.
 */
export function adviseLibraries(use: KeyUse, scopesPoint: Pick<AdvicePoint, "change">): AdvicePoint[] {
  if (requestsWithin(use, ["memory:read", "memory:write", "memory:*"]) > 0) return [libraryPoint(use)];
  const { preset, scopes } = scopesPoint.change;
  const declared = OF_MEMORY.filter((field) => use.spec[field] !== undefined);
  if (preset !== undefined || scopes === undefined || declared.length === 0) return [];
  const change = Object.fromEntries(declared.map((field) => [field, undefined]));
  const why = `No call was of the memory, and without a scope of it a key has no ${declared.join(", ")}.`;
  return [{ field: "libraryAccess", change, why }];
}

function libraryPoint(use: KeyUse): AdvicePoint {
  const { namespace, libraries, librariesSince, reachableLibraries, from } = use;
  const stay = (why: string): AdvicePoint => ({ field: "libraryAccess", change: {}, why });
  if (librariesSince > from) {
    return stay(
      `Which libraries are used is known since ${rfc3339(librariesSince)} alone, so that nothing is narrowed.`,
    );
  }
  if (libraries.length >= MAX_USED_LIBRARIES) {
    return stay(
      `The key uses ${MAX_USED_LIBRARIES} libraries or more, and no more than that are noted, so that nothing is narrowed.`,
    );
  }
  const since = rfc3339(from).slice(0, 10);
  const recent = libraries.filter(({ lastUsedOn }) => lastUsedOn >= since);
  const needed = recent.flatMap(({ library }) => library ?? []);
  if (recent.length === 0) return stay("No library is known that a call has read or written in.");
  const said = usedText(use, recent);
  if (needed.length === 0) return stay(said);
  if (needed.length >= reachableLibraries) return stay(`${said} The key may reach no other.`);
  const nameless = needed.find((library) => library.namespace === "" && namespace !== "");
  if (nameless !== undefined) {
    return stay(`${said} ${nameless.name} has no namespace, and a key of a namespace cannot name it in a list.`);
  }
  const libraryRefs = needed.map((library) => refOf(use, library)).toSorted(byName);
  const { change, why } = defaultOf(use, needed, libraryRefs);
  return {
    field: "libraryAccess",
    change: { libraryAccess: { mode: "Restricted", libraryRefs }, ...change },
    why: `${said} The key may reach ${reachableLibraries}. Of reads of all libraries those count that answers came from.${why}`,
  };
}

/** Returns the change to a default library outside the list: it is removed, or replaced by the list's only library. */
function defaultOf(
  use: KeyUse,
  needed: readonly LibraryName[],
  libraryRefs: readonly LibraryRef[],
): { readonly change: AdvicePoint["change"]; readonly why: string } {
  const declared = use.spec.mcpDefaultLibraryRef;
  if (declared === undefined || needed.some((library) => leadsTo(use, declared, library)))
    return { change: {}, why: "" };
  const [only, ...others] = libraryRefs;
  const isOnly = others.length === 0;
  return {
    change: { mcpDefaultLibraryRef: isOnly ? only : undefined },
    why: ` mcpDefaultLibraryRef was not used, and has to be one of the list: it ${isOnly ? "becomes the only one" : "is removed"}.`,
  };
}

/** Returns the key's own reference to a library, so that its default is written as in the list; else the shortest. */
function refOf(use: KeyUse, library: LibraryName): LibraryRef {
  const { spec, namespace } = use;
  const declared = [spec.mcpDefaultLibraryRef ?? [], spec.libraryAccess?.libraryRefs ?? []].flat();
  const known = declared.find((ref) => leadsTo(use, ref, library));
  if (known !== undefined) return known;
  const { name, namespace: where } = library;
  return where === namespace || where === "" ? { name } : { name, namespace: where };
}

/** True if a reference leads to a library. A key without a namespace may name a library by its name alone. */
function leadsTo({ namespace }: KeyUse, ref: LibraryRef, library: LibraryName): boolean {
  if (ref.name !== library.name) return false;
  const where = ref.namespace ?? namespace;
  return where === library.namespace || where === "";
}

function byName(one: LibraryRef, other: LibraryRef): number {
  const [left, right] = [one, other].map(({ namespace = "", name }) => `${namespace}/${name}`);
  return (left ?? "") < (right ?? "") ? -1 : 1;
}

function usedText({ namespace }: KeyUse, recent: KeyUse["libraries"]): string {
  const present = recent.flatMap(({ library, lastUsedOn }) => (library === null ? [] : [{ ...library, lastUsedOn }]));
  const names = present.map(({ namespace: where, name, lastUsedOn }) => {
    return `${where === namespace || where === "" ? name : `${where}/${name}`} last on ${lastUsedOn}`;
  });
  const more = names.length - MAX_NAMED;
  const used = `Used: ${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
  const gone = recent.length - present.length;
  const lost = `It used ${gone === 1 ? "a library that is gone" : `${gone} libraries that are gone`}, or that it may no longer reach.`;
  return [...(present.length > 0 ? [used] : []), ...(gone > 0 ? [lost] : [])].join(" ");
}
