/**
 * Tries a client as docs/clients.md has it, and prints what came of it as JSON.
 *
 *     node run.mjs PROGRAM NAME ARGUMENT BASE_URL
 *
 * PROGRAM exports, under NAME, what makes the client from its options. ARGUMENT is the option that takes the base URL, as
 * `a.b` where it is one within another. The environment has the key, KEYPLANE_API_KEY, and one that opens no gateway,
 * KEYPLANE_OTHER_KEY.
 */
import { resolve } from "node:path";

const [program, name, argument, baseUrl] = process.argv.slice(2);
const { [name]: open } = await import(resolve(program));
const { KEYPLANE_API_KEY, KEYPLANE_OTHER_KEY } = process.env;

function client(apiKey, url) {
  const option = argument.split(".").reduceRight((inner, member) => ({ [member]: inner }), url);
  return open({ apiKey, ...option });
}

async function messageOf(refused) {
  try {
    return `not refused: ${await refused.chat()}`;
  } catch (error) {
    return error.message;
  }
}

async function joined(pieces) {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

const right = client(KEYPLANE_API_KEY, baseUrl);
const tried = {
  chat: await right.chat(),
  stream: await joined(right.stream()),
  wrongUrl: await messageOf(client(KEYPLANE_API_KEY, `${baseUrl}/v1`)),
  wrongKey: await messageOf(client(KEYPLANE_OTHER_KEY, baseUrl)),
};
console.log(JSON.stringify(tried));
