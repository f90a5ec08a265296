/**
 * Tries a client as docs/clients.md has it, and prints the outcome as JSON.
 *
 *     node run.mjs PROGRAM NAME ARGUMENT BASE_URL
 *
 * PROGRAM exports, under NAME, a function that makes the client of its options and, if it is not to be its own, a model.
 * ARGUMENT is the option that takes the base URL, as `a.b` where it is one within another. The environment has the key,
 * KEYPLANE_API_KEY, one that opens no gateway, KEYPLANE_OTHER_KEY, the model, KEYPLANE_MODEL, and KEYPLANE_FAULTS where the
 * upstream is the stub of test/e2e/providers, which fails on demand.
 *
 * A client has `ask` and `pieces`, by a text, and may have `tools`, `streamedTool`, `image` and `structured`, by what
 * asked.json has; and `responses`, another client of the same kind.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

const [program, name, argument, baseUrl] = process.argv.slice(2);
const { [name]: open } = await import(resolve(program));
const { KEYPLANE_API_KEY, KEYPLANE_OTHER_KEY, KEYPLANE_MODEL, KEYPLANE_FAULTS } = process.env;
const besides = (file) => new URL(file, import.meta.url);
const asked = JSON.parse(await readFile(besides("asked.json"), "utf8"));
const QUESTION = "Which model are you?";
/** The outcome of what a client does not offer. */
const NOT_TRIED = "not tried";

function client(apiKey, url) {
  const option = argument.split(".").reduceRight((inner, member) => ({ [member]: inner }), url);
  return open({ apiKey, ...option }, KEYPLANE_MODEL);
}

/** What an operation returns, or how it is refused. */
async function outcome(operation) {
  try {
    return await operation();
  } catch (error) {
    // An SDK that tries again wraps the last refusal.
    const { status, statusCode, message } = error.lastError ?? error;
    return { status: status ?? statusCode, message };
  }
}

const messageOf = async (refused) => (await outcome(refused)).message ?? "not refused";

async function joined(pieces) {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

/** A stream that breaks off: what came before, and what the caller sees of it. */
async function cutShort(pieces) {
  let text = "";
  const { message } = await outcome(async () => {
    for await (const piece of pieces) text += piece;
    return { message: "" };
  });
  return { text, message };
}

/** Leaves an endless stream after its third piece, and asks whether the provider has noticed. */
async function leave(models) {
  const id = randomUUID();
  const controller = new AbortController();
  let taken = 0;
  for await (const _ of models.pieces(`fault:endless:${id}`, controller.signal)) if (++taken === 3) break;
  controller.abort();
  return models.ask(`fault:left:${id}`);
}

async function operationsOf(models) {
  const image = { ...asked.image, base64: await readFile(besides(asked.image.file), "base64") };
  const operations = {
    chat: () => models.ask(QUESTION),
    stream: () => joined(models.pieces(QUESTION)),
    tools: () => models.tools?.(asked.tool) ?? NOT_TRIED,
    streamedTool: () => models.streamedTool?.(asked.tool) ?? NOT_TRIED,
    image: () => models.image?.(image) ?? NOT_TRIED,
    structured: () => models.structured?.(asked.structured) ?? NOT_TRIED,
  };
  const faults = {
    invalid: () => models.ask(`fault:invalid:${randomUUID()}`),
    limit: () => models.ask(`fault:limit:${randomUUID()}`),
    cut: () => cutShort(models.pieces(`fault:cut:${randomUUID()}`)),
    leave: () => leave(models),
  };
  const outcomes = {};
  for (const [operation, run] of Object.entries(KEYPLANE_FAULTS ? { ...operations, ...faults } : operations)) {
    outcomes[operation] = await outcome(run);
  }
  return outcomes;
}

const right = client(KEYPLANE_API_KEY, baseUrl);
const tried = {
  wrongUrl: await messageOf(() => client(KEYPLANE_API_KEY, `${baseUrl}/v1`).ask(QUESTION)),
  wrongKey: await messageOf(() => client(KEYPLANE_OTHER_KEY, baseUrl).ask(QUESTION)),
  operations: await operationsOf(right),
  ...(right.responses && { responses: await operationsOf(right.responses) }),
};
console.log(JSON.stringify(tried));
