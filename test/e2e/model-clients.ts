import { read } from "../architecture/sources.ts";

/** A row of the table of models in docs/clients.md. */
export type ModelClient = {
  /** The class, the function or the prefix that the client is made by. */
  readonly name: string;
  /** The path of its base URL. */
  readonly path: string;
  /** The option that takes the base URL. */
  readonly argument: string;
};

/** The rows of one client in one language, whose packages are installed together. */
export type ModelClients = {
  readonly title: string;
  /** The program that tries it, below test/e2e/clients. */
  readonly program: string;
  readonly packages: readonly string[];
  readonly tried: string;
  readonly rows: readonly ModelClient[];
};

/** The programs' names, by the client's. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "OpenAI's SDK": "openai",
  "Anthropic's SDK": "anthropic",
  "Google's SDK": "google-genai",
  "Vercel's AI SDK": "ai-sdk",
  LangChain: "langchain",
  LlamaIndex: "llamaindex",
  LiteLLM: "litellm",
};

/** The rows of the table of models in docs/clients.md, by client and language. */
export function modelClients(): ModelClients[] {
  const groups = Map.groupBy(tableRows(), (row) => `${titleOf(row)} ${row.tried}`);
  return [...groups.values()].map((rows) => {
    const [first] = rows;
    const name = first?.client.replace(/,.*/, "") ?? "";
    const program = PROGRAMS[name];
    if (first === undefined || program === undefined) throw new Error(`no program tries ${name}`);
    return {
      title: titleOf(first),
      program: isPython(first) ? `python/${program}.py` : `typescript/${program}.mjs`,
      packages: [...new Set(rows.flatMap(packagesOf))],
      tried: first.tried,
      rows: rows.map(({ maker, path, argument }) => ({
        name: codesIn(maker)[0]?.replace("/", "") ?? "",
        path: codesIn(path)[0] ?? "",
        argument: codesIn(argument)[0] ?? "",
      })),
    };
  });
}

type Row = Readonly<Record<"client" | "packages" | "maker" | "path" | "argument" | "tried", string>>;

const isPython = ({ packages }: Row): boolean => packages.includes("==");
const titleOf = (row: Row): string => `${row.client.replace(/,.*/, "")} in ${isPython(row) ? "Python" : "TypeScript"}`;

/** What a client's cell names is beside its packages in TypeScript. */
function packagesOf(row: Row): string[] {
  const beside = codesIn(row.client).filter((code) => code.includes("@"));
  return [...(isPython(row) ? [] : beside), ...codesIn(row.packages)];
}

/** The development dependencies, by name. */
export const OWN_VERSIONS: Readonly<Record<string, string>> = JSON.parse(read("package.json")).devDependencies;

/** Whether a client's packages are installed with the project itself. */
export function isInstalled({ packages }: ModelClients): boolean {
  return packages.every((one) => {
    const at = one.lastIndexOf("@");
    return OWN_VERSIONS[one.slice(0, at)] === one.slice(at + 1);
  });
}

/** The table's rows. One without a client is of the client above it. */
function tableRows(): Row[] {
  const [, table = ""] = /^\| client \| package \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(read("docs/clients.md")) ?? [];
  let named = "";
  return table
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [, client = "", packages = "", maker = "", path = "", argument = "", tried = ""] = line
        .split("|")
        .map((cell) => cell.trim());
      named = client === "" ? named : client;
      return { client: named, packages, maker, path, argument, tried };
    });
}

function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}
