import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { FOLDERS, filesBelow, read } from "./sources.ts";

/**
 * What each folder may import of the others: domain <- store <- {controller, server} <- memory <- processes <- cli, and
 * domain <- infra. What every process has, in runtime, imports nothing else but domain.
 */
const MAY_IMPORT: Record<(typeof FOLDERS)[number], readonly string[]> = {
  domain: [],
  runtime: ["domain"],
  store: ["domain"],
  controller: ["domain", "runtime", "store"],
  server: ["domain", "runtime", "store"],
  memory: ["domain", "runtime", "store", "server"],
  processes: ["domain", "runtime", "store", "server", "memory"],
  cli: ["domain", "runtime", "store", "controller", "server", "processes"],
  infra: ["domain", "runtime"],
};

/** The rooms of folders that are large, each of which imports only those before it. */
const FOLDERS_IN_ORDER: Readonly<Record<string, readonly string[]>> = {
  "domain/key": ["declaration", "fields", "stored", "policies", "secret", "observed", "issuance", "conditions", "plan"],
  "domain/manifest": ["document", "validation", "set"],
  "store/keys": ["rows", "lifecycle", "search", "events", "uses"],
  memory: [
    ...["rules", "store", "call", "request", "shown", "writes", "embedding", "extraction", "rest", "mcp", "pages"],
    "memory.ts",
  ],
  "memory/store": ["rows", "lists", "embedding", "search", "writes", "extraction"],
  "memory/store/search": ["words", "candidates", "ranking", "ranked-atoms.ts", "atom-recall.ts", "atom-search.ts"],
  "memory/mcp": ["definition", "answer", "tools", "protocol", "metadata-routes.ts", "routes.ts"],
  "server/management/keys": ["request", "shown", "access", "make", "change", "routes.ts"],
};

/** The one file of a folder that others import. */
const DOORS: Readonly<Record<string, string>> = { memory: "memory/memory.ts" };

/**
 * What the memory uses of the rest: a further place is a decision. Of what makes pages and manages objects, its own pages
 * and its door alone.
 */
const USED_BY_MEMORY = [
  ...["domain/access", "domain/defined.ts", "domain/passages.ts", "domain/redact.ts", "domain/rfc3339.ts"],
  ...["domain/conditions.ts", "domain/counted.ts", "domain/parse-json.ts"],
  ...["runtime/log.ts", "runtime/team-slots.ts", "runtime/team-bounds.ts", "runtime/polling.ts"],
  ...["store/database", "store/libraries", "store/objects", "store/keys/rows/key-records.ts"],
  "store/teams/team-records.ts",
  ...["server/app.ts", "server/auth", "server/calls/open-call.ts", "server/context", "server/gateway/library"],
  ...["server/http", "server/libraries", "server/openapi", "server/pages", "server/product"],
];
const USED_BY_PAGES = ["server/console", "server/management"];

/** Packages that only one place may know. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  kysely: ["store/", "memory/store/"],
  pg: ["store/"],
  "pg-connection-string": ["store/database/postgres/"],
  "@electric-sql/pglite": ["store/"],
  "@modelcontextprotocol/server": ["memory/mcp/"],
  undici: ["server/gateway/"],
  jose: ["server/auth/"],
  "openid-client": ["server/auth/session/"],
  "@kubernetes/client-node": ["controller/cluster/kubernetes/"],
  "@pulumi/pulumi": ["infra/pulumi/"],
  "@pulumi/kubernetes": ["infra/pulumi/kubernetes/"],
  "@grpc/grpc-js": ["infra/pulumi/provider/"],
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
function partOf(file: string): string {
  const [top, folder, ...rest] = file.split("/");
  return rest.length === 0 ? `${top}'s own files` : `${top}/${folder}`;
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

  it.each(Object.entries(DOORS))(
    "what is in %s is imported from outside by its door alone, in processes/",
    (folder, door) => {
      const within = (file: string) => file.startsWith(`${folder}/`);
      const wrong = BETWEEN_FILES.filter(
        ({ from, to }) => within(to) && !within(from) && (to !== door || !from.startsWith("processes/")),
      );
      expect(wrong).toEqual([]);
    },
  );

  it("the memory uses what it is listed with, and each of that", () => {
    const used = BETWEEN_FILES.filter(({ from, to }) => from.startsWith("memory/") && !to.startsWith("memory/"));
    const isIn = (file: string, place: string) => file === place || file.startsWith(`${place}/`);
    const mayUse = (from: string) =>
      from.startsWith("memory/pages/") || from === DOORS.memory
        ? [...USED_BY_MEMORY, ...USED_BY_PAGES]
        : USED_BY_MEMORY;
    expect(used.filter(({ from, to }) => !mayUse(from).some((place) => isIn(to, place)))).toEqual([]);
    const listed = [...USED_BY_MEMORY, ...USED_BY_PAGES];
    expect(listed.filter((place) => !used.some(({ to }) => isIn(to, place)))).toEqual([]);
  });

  it.each(Object.entries(ONLY_IN))("only %s's own place imports it", (name, places) => {
    const wrong = IMPORTS.filter(
      ({ file, from }) =>
        (from === name || from.startsWith(`${name}/`)) && !places.some((place) => file.startsWith(place)),
    );
    expect(wrong).toEqual([]);
  });

  it("never in a circle, of types neither", () => {
    expect(findCircle(BETWEEN_FILES)).toBeUndefined();
  });

  it.each(FOLDERS)("rooms of %s form no circle", (folder) => {
    const within = BETWEEN_FILES.filter(({ from, to }) => [from, to].every((file) => file.startsWith(`${folder}/`)));
    const imports = within
      .map((files) => ({ from: partOf(files.from), to: partOf(files.to), files }))
      .filter(({ from, to }) => from !== to);
    expect(findCircle(imports)).toBeUndefined();
  });

  it.each(Object.entries(FOLDERS_IN_ORDER))("each room of %s imports only those before it", (folder, folders) => {
    const folderIn = (file: string) =>
      file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split("/")[0] : "";
    expect([...new Set(filesBelow(folder, ".ts").map(folderIn))].sort()).toEqual([...folders].sort());
    const positionOf = (file: string) => folders.indexOf(folderIn(file) ?? "");
    const wrong = BETWEEN_FILES.filter(({ from, to }) => positionOf(from) >= 0 && positionOf(to) > positionOf(from));
    expect(wrong).toEqual([]);
  });

  it.each(["domain", "memory/rules"])("keeps I/O, clocks and randomness out of %s", (folder) => {
    const files = filesBelow(folder, ".ts");
    expect(IMPORTS.filter(({ file, from }) => file.startsWith(`${folder}/`) && IMPURE.test(from))).toEqual([]);
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
