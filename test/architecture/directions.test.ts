import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, read } from "./sources.ts";

const FOLDERS = ["domain", "runtime", "store", "controller", "server", "cli", "infra"] as const;

/**
 * What each folder may import of the others: domain <- store <- {controller, server} <- cli, and domain <- infra. What
 * every process has, in runtime, imports nothing else but domain.
 */
const MAY_IMPORT: Record<(typeof FOLDERS)[number], readonly string[]> = {
  domain: [],
  runtime: ["domain"],
  store: ["domain"],
  controller: ["domain", "runtime", "store"],
  server: ["domain", "runtime", "store"],
  cli: ["domain", "runtime", "store", "controller", "server"],
  infra: ["domain", "runtime"],
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

const IMPORTS: readonly Import[] = FOLDERS.flatMap((folder) => filesBelow(folder, ".ts")).flatMap((file) =>
  [...read(file).matchAll(/^(?:import|export)\b[^;"]*?"([^"]+)";/gms)].map(([, from = ""]) => ({ file, from })),
);

/** The top folder of a relative import, or undefined for a package. */
function folderOf({ file, from }: Import): string | undefined {
  return from.startsWith(".") ? join(dirname(file), from).split("/")[0] : undefined;
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
    const imported = Map.groupBy(IMPORTS, ({ file }) => file);
    const done = new Set<string>();
    function findCircle(file: string, above: readonly string[]): readonly string[] | undefined {
      if (above.includes(file)) return [...above.slice(above.indexOf(file)), file];
      if (done.has(file)) return undefined;
      for (const { from } of imported.get(file) ?? []) {
        if (!from.startsWith(".")) continue;
        const circle = findCircle(join(dirname(file), from), [...above, file]);
        if (circle !== undefined) return circle;
      }
      done.add(file);
      return undefined;
    }
    const first = [...imported.keys()].map((file) => findCircle(file, [])).find((circle) => circle !== undefined);
    expect(first).toBeUndefined();
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
