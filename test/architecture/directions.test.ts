import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { FOLDERS, filesBelow, read } from "./sources.ts";

/**
 * What each folder may import of the others: domain <- store <- {controller, server} <- processes <- cli, and domain <-
 * infra. What every process has, in runtime, imports nothing else but domain.
 */
const MAY_IMPORT: Record<(typeof FOLDERS)[number], readonly string[]> = {
  domain: [],
  runtime: ["domain"],
  store: ["domain"],
  controller: ["domain", "runtime", "store"],
  server: ["domain", "runtime", "store"],
  processes: ["domain", "runtime", "store", "server"],
  cli: ["domain", "runtime", "store", "controller", "server", "processes"],
  infra: ["domain", "runtime"],
};

/** The rooms of folders that are large, each of which imports only those before it. */
const ROOMS_IN_ORDER: Readonly<Record<string, readonly string[]>> = {
  "domain/key": ["declaration", "stored", "policies", "secret", "observed", "issuance", "conditions", "plan"],
  "domain/manifest": ["document", "validation", "set"],
  "store/keys": ["rows", "lifecycle", "search", "events", "uses"],
  "store/memory": ["rows", "libraries", "lists", "embedding", "search", "writes", "extraction"],
  "store/memory/search": ["words", "candidates", "ranking", "ranked-atoms.ts", "atom-recall.ts", "atom-search.ts"],
  "server/mcp": ["definition", "answer", "tools", "protocol", "metadata-routes.ts", "routes.ts"],
  "server/memory": ["call", "request", "shown", "writes", "rest", "routes.ts"],
  "server/management/keys": ["request", "shown", "access", "make", "change", "routes.ts"],
};

/** Packages that only one place may know. */
const ONLY_IN: Readonly<Record<string, string>> = {
  kysely: "store/",
  pg: "store/",
  "pg-connection-string": "store/database/postgres/",
  "@electric-sql/pglite": "store/",
  undici: "server/gateway/",
  jose: "server/auth/",
  "openid-client": "server/auth/session/",
  "@kubernetes/client-node": "controller/cluster/kubernetes/",
  "@pulumi/pulumi": "infra/pulumi/",
  "@pulumi/kubernetes": "infra/pulumi/kubernetes/",
  "@grpc/grpc-js": "infra/pulumi/provider/",
};

/** Modules of Node's that make code impure. */
const IMPURE = /^node:(fs|net|http|https|child_process|worker_threads|timers|os|process|dgram|tls)/;

type Import = { readonly file: string; readonly from: string };

/** All of them: those as a file is loaded, those as it runs, and those of types. */
const IMPORTS: readonly Import[] = FOLDERS.flatMap((folder) => filesBelow(folder, ".ts")).flatMap((file) =>
  [...read(file).matchAll(/^(?:import|export)\b[^;"]*?"([^"]+)";|\bimport\("([^"]+)"\)/gms)].map(
    ([, loaded, run = ""]) => ({ file, from: loaded ?? run }),
  ),
);

/** What imports what: two files, or two rooms. */
type Edge = { readonly from: string; readonly to: string };

const BETWEEN_FILES: readonly Edge[] = IMPORTS.filter(({ from }) => from.startsWith(".")).map(({ file, from }) => ({
  from: file,
  to: join(dirname(file), from),
}));

/** The top folder of a relative import, or undefined for a package. */
function folderOf({ file, from }: Import): string | undefined {
  return from.startsWith(".") ? join(dirname(file), from).split("/")[0] : undefined;
}

/** A first-level folder of a top folder with all that is below it is one room, and so are the top folder's own files. */
function roomOf(file: string): string {
  const [top, room, ...rest] = file.split("/");
  return rest.length === 0 ? `${top}'s own files` : `${top}/${room}`;
}

/** The first circle that is found, edge by edge; undefined where there is none. */
function findCircle(edges: readonly Edge[]): readonly Edge[] | undefined {
  const edgesFrom = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  function circleFrom(node: string, above: readonly Edge[]): readonly Edge[] | undefined {
    const begin = above.findIndex(({ from }) => from === node);
    if (begin >= 0) return above.slice(begin);
    if (done.has(node)) return undefined;
    for (const edge of edgesFrom.get(node) ?? []) {
      const circle = circleFrom(edge.to, [...above, edge]);
      if (circle !== undefined) return circle;
    }
    done.add(node);
    return undefined;
  }
  return [...edgesFrom.keys()].map((node) => circleFrom(node, [])).find((circle) => circle !== undefined);
}

describe("imports go one way", () => {
  it("finds the imports that it judges", () => {
    expect(IMPORTS.length).toBeGreaterThan(300);
  });

  it.each(FOLDERS)("%s imports only what it may", (folder) => {
    const allowed = [folder, ...MAY_IMPORT[folder]];
    const wrong = IMPORTS.filter(({ file }) => file.startsWith(`${folder}/`)).filter((one) => {
      const target = folderOf(one);
      return target !== undefined && !allowed.includes(target);
    });
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(ONLY_IN))("only %s's own place imports it", (name, place) => {
    const wrong = IMPORTS.filter(
      ({ file, from }) => (from === name || from.startsWith(`${name}/`)) && !file.startsWith(place),
    );
    expect(wrong).toEqual([]);
  });

  it("never in a circle, of types neither", () => {
    expect(findCircle(BETWEEN_FILES)).toBeUndefined();
  });

  it.each(FOLDERS)("rooms of %s form no circle", (folder) => {
    const within = BETWEEN_FILES.filter(({ from, to }) => [from, to].every((file) => file.startsWith(`${folder}/`)));
    const imports = within
      .map((files) => ({ from: roomOf(files.from), to: roomOf(files.to), files }))
      .filter(({ from, to }) => from !== to);
    expect(findCircle(imports)).toBeUndefined();
  });

  it.each(Object.entries(ROOMS_IN_ORDER))("each room of %s imports only those before it", (folder, rooms) => {
    const roomIn = (file: string) => (file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split("/")[0] : "");
    expect([...new Set(filesBelow(folder, ".ts").map(roomIn))].sort()).toEqual([...rooms].sort());
    const placeOf = (file: string) => rooms.indexOf(roomIn(file) ?? "");
    const wrong = BETWEEN_FILES.filter(({ from, to }) => placeOf(from) >= 0 && placeOf(to) > placeOf(from));
    expect(wrong).toEqual([]);
  });

  it("keeps I/O, clocks and randomness out of domain", () => {
    const files = filesBelow("domain", ".ts");
    expect(IMPORTS.filter(({ file, from }) => file.startsWith("domain/") && IMPURE.test(from))).toEqual([]);
    const impure =
      /\b(Date\.now|new Date\(\)|Math\.random|randomBytes\(|randomUUID|performance\.now|process\.|setTimeout|console\.)/;
    const wrong = files.filter((file) =>
      impure.test(withoutComments(read(file)).replaceAll("randomBytes(RANDOM_CHARACTERS)", "")),
    );
    expect(wrong).toEqual([]);
  });

  it("reads the environment in config.ts alone", () => {
    const wrong = FOLDERS.flatMap((folder) => filesBelow(folder, ".ts")).filter(
      (file) => /process\.env/.test(withoutComments(read(file))) && !file.endsWith("/config.ts"),
    );
    expect(wrong).toEqual([]);
  });
});

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
}
