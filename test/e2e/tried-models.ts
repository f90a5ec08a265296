/** Runs a program of test/e2e/clients on a gateway, and says what each of its operations is to return. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { ROOT } from "../architecture/sources.ts";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import type { ModelClient } from "./model-clients.ts";

/** Operations that any provider is asked for, and those that only the stub of test/e2e/providers can be made to fail. */
const OPERATIONS = ["chat", "stream", "tools", "streamedTool", "image", "structured"] as const;
const FAULTS = ["invalid", "limit", "cut", "leave"] as const;
type Operation = (typeof OPERATIONS)[number] | (typeof FAULTS)[number];

export type Outcomes = Readonly<Partial<Record<Operation, unknown>>>;

/** What a program of test/e2e/clients prints. */
export type TriedModels = {
  readonly wrongUrl: string;
  readonly wrongKey: string;
  readonly operations: Outcomes;
  /** The same by OpenAI's responses, of a client that offers both. */
  readonly responses?: Outcomes;
};

export type Run = {
  readonly program: string;
  readonly client: Pick<ModelClient, "name" | "argument">;
  readonly baseUrl: string;
  readonly key: string;
  /** A key that opens no gateway. */
  readonly otherKey: string;
  /** The client's own where it is left out. */
  readonly model?: string;
  readonly upstream: "stub" | "provider";
};

/** Where a program's packages are: a folder `node_modules`, or what runs it. */
export type Installed = { readonly interpreter?: string; readonly modules?: string };

/** Runs a program to its end, in a folder of its own. */
export async function runModels(
  { program, client, baseUrl, key, otherKey, model, upstream }: Run,
  { interpreter = process.execPath, modules }: Installed,
): Promise<TriedModels> {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-client-"));
  try {
    cpSync(join(ROOT, "test/e2e/clients"), folder, { recursive: true });
    if (modules !== undefined) symlinkSync(modules, join(folder, "node_modules"));
    const args = [`run${extname(program)}`, program, client.name, client.argument, baseUrl];
    const env = {
      ...COMPILE_CACHE,
      PATH: process.env.PATH,
      HOME: folder,
      KEYPLANE_API_KEY: key,
      KEYPLANE_OTHER_KEY: otherKey,
      ...(model !== undefined && { KEYPLANE_MODEL: model }),
      ...(upstream === "stub" && { KEYPLANE_FAULTS: "yes" }),
      // LiteLLM asks for a list of prices otherwise.
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
    };
    const { stdout } = await promisify(execFile)(interpreter, args, { cwd: folder, env });
    return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const asked = JSON.parse(readFileSync(join(ROOT, "test/e2e/clients/asked.json"), "utf8"));
const picture = readFileSync(join(ROOT, "test/e2e/clients", asked.image.file));
const digest = createHash("sha256").update(picture).digest("hex");

/** The stub's answer to a plain question, by the gateway's route where there is one. */
const STUB = expect.stringMatching(
  /^I am a stub, not a model\. You asked for (?:stub-small|claude|claude-sonnet-4-5|gemini|gemini-2\.5-flash)\.$/,
);

/** What the stub says until it breaks off. */
const CUT_TEXT = "This answer goes on and on. ";

/** What the gateway adds to a stream that its upstream breaks off. */
const CUT = "The upstream did not give a usable answer.";

/** What each operation returns where the upstream is the stub. */
const OF_STUB: Readonly<Record<Operation, unknown>> = {
  chat: STUB,
  stream: STUB,
  tools: { args: { city: "Paris" }, text: expect.stringContaining(asked.tool.result) },
  streamedTool: { args: { city: "Paris" }, usage: { input: 12, output: 7 } },
  image: `Red. ${picture.length} bytes of image/png, ${digest}`,
  structured: { city: "Paris", degrees: 18 },
  invalid: { status: 400, message: expect.stringMatching(/The request [\w-]+ is refused\./) },
  // A second, as `Retry-After` says, and not much more.
  limit: expect.stringMatching(/^Answered [12]\d{3} ms after the refusal\.$/),
  cut: { text: CUT_TEXT, message: expect.stringContaining(CUT) },
  leave: "The caller has left.",
};

/** What an operation returns of any model. */
const OF_PROVIDER: Readonly<Record<(typeof OPERATIONS)[number], unknown>> = {
  chat: expect.stringMatching(/\w/),
  stream: expect.stringMatching(/\w/),
  tools: { args: { city: expect.stringMatching(/Paris/) }, text: expect.stringMatching(/18/) },
  streamedTool: {
    args: { city: expect.stringMatching(/Paris/) },
    usage: { input: expect.toSatisfy(isPositive), output: expect.toSatisfy(isPositive) },
  },
  image: expect.stringMatching(/red/i),
  structured: { city: expect.stringMatching(/Paris/), degrees: 18 },
};

function isPositive(count: unknown): boolean {
  return Number.isInteger(count) && Number(count) > 0;
}

/** The refusal of a client that does not ask again. */
const LIMITED = { status: 429, message: expect.stringMatching(/The request [\w-]+ is one too many\./) };

/** Clients that do not do what the others do. */
const OTHERWISE: readonly {
  /** Programs and names of clients. */
  readonly of: RegExp;
  readonly reason: string;
  readonly outcomes: Outcomes;
}[] = [
  {
    of: /google-genai\.(mjs|py)|ChatGoogleGenerativeAI|llamaindex\.\w+ (gemini|GoogleGenAI)|litellm\.py (anthropic|gemini)/,
    reason: "it repeats no request unless it is set to, and then knows no Retry-After",
    outcomes: { limit: LIMITED },
  },
  {
    of: /langchain\.mjs ChatGoogleGenerativeAI|llamaindex\.mjs gemini/,
    reason: "the SDK below it takes an error within a stream for a piece without text",
    outcomes: { cut: { text: CUT_TEXT, message: "" } },
  },
  {
    of: /langchain\.py ChatGoogleGenerativeAI/,
    reason: "its streams are arrays, which take no event: the connection is broken off",
    outcomes: { cut: { text: CUT_TEXT, message: "Response ended prematurely" } },
  },
  {
    of: /litellm\.py (openai|anthropic)|llamaindex\.mjs/,
    reason: "it has nothing by which a stream is left, and goes on until the process ends",
    outcomes: { leave: "The caller is still there." },
  },
  {
    of: /llamaindex/,
    reason: "its tools, images and structured answers are its agents' and its programs', each a package of its own",
    outcomes: { tools: "not tried", streamedTool: "not tried", image: "not tried", structured: "not tried" },
  },
];

/** What a client is to print of the stub. */
export function expectedOf(program: string, { name }: Pick<ModelClient, "name">) {
  const otherwise = OTHERWISE.filter(({ of }) => of.test(`${program} ${name}`)).map(({ outcomes }) => outcomes);
  const operations = Object.assign({}, OF_STUB, ...otherwise);
  return {
    wrongUrl: expect.stringMatching(/There is nothing at this path\. The nearest is POST \/g\/research-main\/v1/),
    wrongKey: expect.stringMatching(/The key inf_\w{8} lacks the scope gateway:generate\. .* Use another key, or have/),
    operations,
    ...(/\/openai\./.test(program) && { responses: operations }),
  };
}

/** What a client is to print of any provider's model. */
export function expectedOfProvider(program: string) {
  return {
    wrongUrl: expect.any(String),
    wrongKey: expect.stringContaining("lacks the scope gateway:generate"),
    operations: OF_PROVIDER,
    ...(/\/openai\./.test(program) && { responses: OF_PROVIDER }),
  };
}
