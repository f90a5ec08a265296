import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTROLLER_SETTINGS } from "../../controller/config.ts";
import { CONDITION_TYPES } from "../../domain/conditions.ts";
import { parseManifests } from "../../domain/manifest/document/parse.ts";
import { readManifest } from "../../domain/manifest/validation/validate.ts";
import packageJson from "../../package.json" with { type: "json" };
import { flagOf } from "../../runtime/settings.ts";
import { SERVER_SETTINGS } from "../../server/context/settings.ts";
import { FOLDERS, filesBelow, ROOT, read } from "./sources.ts";

const documents = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...["docs", "examples", "infra", "test"].flatMap((folder) => filesBelow(folder, ".md")),
];
/** Walks through the code. */
const JOURNEYS = ["docs/maintainers/declaration-to-secret.md", "docs/maintainers/request-to-decision.md"];
/** Those with kinds of ours; what belongs to Kubernetes itself is in files of its own. */
const examples = filesBelow("examples", ".yaml").filter((file) => read(file).includes("apiVersion: keyplane.dev/"));

function diagnosticsOf(text: string, file: string): string[] {
  const { documents: parsed, diagnostics } = parseManifests(text, file);
  return [...diagnostics, ...parsed.flatMap((document) => readManifest(document).diagnostics)].map(
    ({ message }) => message,
  );
}

/** What a page's headings are linked by, as GitHub makes it of their text. */
function anchorsOf(file: string): string[] {
  return [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("the docs", () => {
  it.each(documents)("%s links to nothing that is not there", (file) => {
    const links = [...read(file).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, to = ""]) => to);
    const missing = links.filter((to) => !/^https?:/.test(to) && !existsSync(join(ROOT, dirname(file), to)));
    expect(missing).toEqual([]);
  });

  it.each(documents)(
    "%s shows pictures that are there, each of 150 kB at most and described for those who do not see it",
    (file) => {
      const tags = [...read(file).matchAll(/<(?:img|source)\b[^>]*>/g)].map(([tag]) => tag);
      for (const tag of tags) {
        const [, picture = ""] = /\b(?:src|srcset)="([^"]+)"/.exec(tag) ?? [];
        expect(statSync(join(ROOT, dirname(file), picture)).size, picture).toBeLessThanOrEqual(150_000);
        if (tag.startsWith("<img")) expect(tag).toMatch(/\balt="[^"]+"/);
      }
    },
  );

  it.each(documents)("%s names files and folders that are there", (file) => {
    const top = [...FOLDERS, "crds", "docs", "examples", "scripts", "test"].join("|");
    const named = [...read(file).matchAll(new RegExp(`\`((?:${top})/[\\w./-]*)\``, "g"))].map(([, path = ""]) => path);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(documents)("%s links to headings that are there", (file) => {
    const links = [...read(file).matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)];
    const missing = links.filter(([, to = "", anchor = ""]) => {
      const target = to === "" ? file : join(dirname(file), to);
      return target.endsWith(".md") && !anchorsOf(target).includes(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it("have Git ignore every secret that they have readers save in a checkout", () => {
    const saved = documents.flatMap((file) =>
      [...read(file).matchAll(/\(umask 077;.*> ([\w.-]+)\)/g)].map(([, name = ""]) => `/${name}`),
    );
    expect(saved).toContain("/encryption-key");
    const ignored = read(".gitignore").split("\n");
    expect(saved.filter((name) => !ignored.includes(name))).toEqual([]);
  });

  it("draw the folders that there are", () => {
    const [, layout = ""] = /```\n([\s\S]*?)```/.exec(read("docs/architecture.md")) ?? [];
    let path: readonly string[] = [];
    const drawn = layout.split("\n").flatMap((line) => {
      const names = [...line.matchAll(/(?<=^| {2})([a-z-]+)\/(?= |$)/g)].map(([, name = ""]) => name);
      const [first] = names;
      if (first === undefined) return [];
      const above = path.slice(0, line.search(/\S/) / 2);
      path = [...above, first];
      return above.length === 0 ? [] : names.map((name) => [...above, name].join("/"));
    });
    const folders = [...new Set([...FOLDERS, ...drawn.map(dirname)])].flatMap((name) =>
      readdirSync(join(ROOT, name), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => `${name}/${entry.name}`),
    );
    expect(drawn.toSorted()).toEqual(folders.toSorted());
  });

  it("name as the contract only flags that exist", () => {
    const commands = filesBelow("cli", ".ts").map(read).join("\n");
    const settings = Object.keys({ ...SERVER_SETTINGS, ...CONTROLLER_SETTINGS }).map((name) => `--${flagOf(name)}`);
    const details = [...read("docs/spec.md").matchAll(/\]\((reference\/[\w-]+\.md)/g)].map(
      ([, page]) => `docs/${page}`,
    );
    const contract = ["docs/spec.md", ...new Set(details)].map(read).join("\n");
    const named = [...contract.matchAll(/(?<!npm run )--[a-z][a-z-]+/g)].map(([flag]) => flag);
    expect(named.length).toBeGreaterThan(15);
    const exists = (flag: string) => settings.includes(flag) || new RegExp(`["'\`]${flag}\\b`).test(commands);
    expect(named.filter((flag) => !exists(flag))).toEqual([]);
  });

  it.each(JOURNEYS)("%s names what is in the code: in the file that it links to", (file) => {
    const code = FOLDERS.flatMap((folder) => filesBelow(folder, ".ts"));
    const everywhere = code.map(read).join("\n");
    const names = [...read(file).matchAll(/`([A-Za-z][\w.]*)`(?:\]\(([^)#]+\.ts)\))?/g)];
    expect(names.length).toBeGreaterThan(20);
    const missing = names.filter(([, name = "", to]) => {
      const text = to === undefined ? everywhere : read(join(dirname(file), to));
      return name.split(".").some((word) => !new RegExp(`\\b${word}\\b`).test(text));
    });
    expect(missing.map(([named]) => named)).toEqual([]);
  });

  it.each(JOURNEYS)("%s links to twenty places at most", (file) => {
    const links = [...read(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to);
    expect(new Set(links).size).toBeLessThanOrEqual(20);
  });

  it("have a command that measures each table of figures, and say how each bench makes its run", () => {
    const [, table = ""] = /const BENCHES = \{\n([\s\S]*?)\};/.exec(read("test/bench/main.ts")) ?? [];
    const benches = [...table.matchAll(/(\w+):/g)].map(([, name = ""]) => name);
    const [, ...sections] = read("docs/performance.md").split(/^## /m);
    const measuring = sections.map((section) => ({
      heading: section.split("\n", 1)[0],
      commands: [...section.matchAll(/`(?:\w+=\S+ )*npm run bench (\w+)`/g)].map(([, name = ""]) => name),
    }));
    expect(measuring.filter(({ commands }) => commands.length === 0)).toEqual([]);
    expect(measuring.flatMap(({ commands }) => commands).filter((name) => !benches.includes(name))).toEqual([]);
    const described = [...read("test/bench/README.md").matchAll(/^## (\w+)$/gm)].map(([, name = ""]) => name);
    expect(described.toSorted()).toEqual(benches.toSorted());
  });

  it("lie in a folder of their kind, but for those that readers know by their place", () => {
    const kinds = [
      "decisions",
      "explanation",
      "guides",
      "maintainers",
      "operations",
      "pictures",
      "reference",
      "security",
      "tutorials",
    ];
    const pages = [
      ...["README", "architecture", "clients", "faq", "glossary", "install", "limitations", "performance", "spec"],
      ...["testing", "why"],
    ];
    const entries = new Set(filesBelow("docs", "").map((file) => file.split("/")[1]));
    expect([...entries].toSorted()).toEqual([...kinds, ...pages.map((page) => `${page}.md`)].toSorted());
  });

  it("are all in the index", () => {
    const index = read("docs/README.md");
    const missing = filesBelow("docs", ".md").filter((file) => !index.includes(`](${relative("docs", file)})`));
    expect(missing).toEqual(["docs/README.md"]);
  });

  it.each(filesBelow("docs/decisions", ".md"))("%s says when it was decided, and what, before all else", (file) => {
    expect(read(file)).toMatch(/^# .+\n\n\*[A-Z][a-z]+ \d{4}\.\* [A-Z`].+\.\n/);
  });

  it.each(documents)("%s shows manifests that are valid", (file) => {
    const blocks = [...read(file).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    const manifests = blocks.filter((text) => text.startsWith("apiVersion: keyplane.dev"));
    expect(manifests.flatMap((text) => diagnosticsOf(text, file))).toEqual([]);
  });

  it.each(documents)("%s applies files that are there", (file) => {
    const applied = [...read(file).matchAll(/kubectl apply [^`\n]*?-f (\S+)/g)].map(([, path = ""]) => path);
    expect(applied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(documents)("%s looks for conditions that exist", (file) => {
    const named = [...read(file).matchAll(/(?:condition\.type == "|--for=condition=)(\w+)/g)].map(
      ([, type = ""]) => type,
    );
    expect(named.filter((type) => !(CONDITION_TYPES as readonly string[]).includes(type))).toEqual([]);
  });

  it.each(documents)("%s names npm scripts that exist", (file) => {
    const named = [...read(file).matchAll(/npm run (?:--silent )?([a-z][a-z0-9:-]*)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
  });
});

describe("the examples", () => {
  it.each(examples)("%s is valid, without a warning", (file) => {
    expect(diagnosticsOf(read(file), file)).toEqual([]);
  });
});

it("the calls that a gateway serves are those of the SDKs that its tests run", () => {
  const page = read("docs/reference/model-gateway-calls.md");
  for (const name of ["openai", "@anthropic-ai/sdk", "@google/genai"] as const) {
    expect(page).toContain(`\`${name}\` ${packageJson.devDependencies[name]}`);
  }
});
