import type { ResponseInputItem } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import {
  GATEWAY_OPERATIONS,
  type KeptObjects,
  type ServedOperation,
} from "../../../../domain/access/gateway-operations.ts";
import { geminiNameReader } from "../../../../server/gateway/kept/gemini-files.ts";
import { ReferenceScan } from "../../../../server/gateway/kept/reference-scan.ts";
import { BodyFault } from "../../../../server/http/bodies/json-scanner.ts";
import { SLICE_STEPS } from "../../../../server/http/bodies/slices.ts";
import { leastOfFive, threadCpuTimeOf } from "../../../env/cpu-time.ts";

const RESPONSES = GATEWAY_OPERATIONS["gateway.responses"].kept ?? {};

function scan(body: string | object, kept: KeptObjects = RESPONSES): ReferenceScan {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const found = new ReferenceScan(Buffer.from(text), kept);
  while (!found.run(50));
  return found;
}

const namedIn = (body: string | object) => scan(body).references.map(({ kind, id }) => `${kind} ${id}`);

test.each<readonly [string | object, readonly string[]]>([
  [{ input: "Hello" }, []],
  [{ previous_response_id: null, conversation: null, input: null }, []],
  [{ previous_response_id: "r1" }, ["response r1"]],
  [{ conversation: "c1" }, ["conversation c1"]],
  [{ conversation: { id: "c1", x: { id: "no" } } }, ["conversation c1"]],
  [{ metadata: { previous_response_id: "no" }, text: { input: [{ id: "no" }] } }, []],
  [{ input: [{ type: "item_reference", id: "i1" }] }, ["item i1"]],
  [{ input: [{ id: "i1" }, [{ id: "i2" }]] }, ["item i1", "item i2"]],
  [{ input: { id: "i1" } }, ["item i1"]],
  [{ input: [{ id: "i1", content: "no author" }] }, ["item i1"]],
  [{ input: [{ id: "i1", role: "user", content: "Hello" }] }, []],
  [{ input: [{ id: "i1", type: "message", role: "assistant", content: [{ id: "no" }] }] }, []],
  [{ input: [{ id: "i1", type: "reasoning", summary: [] }] }, ["item i1"]],
  [{ input: [{ id: "i1", type: "reasoning", encrypted_content: null }] }, ["item i1"]],
  [{ input: [{ id: "i1", type: "reasoning", encrypted_content: "" }] }, ["item i1"]],
  [{ input: [{ id: "i1", type: "reasoning", encrypted_content: "sealed" }] }, []],
  [{ input: [{ id: "i1", type: "image_generation_call" }] }, ["item i1"]],
  [{ input: [{ id: "i1", type: "image_generation_call", result: "aGk=" }] }, []],
  [{ input: [{ id: "i1", type: "function_call", arguments: "" }] }, []],
  [{ input: [{ id: "i1", type: "what_comes_next", content: "x" }] }, ["item i1"]],
  [{ input: [{ type: "message", role: "user", content: "Hello" }] }, []],
  [{ input: [{ id: null, type: "item_reference" }] }, []],
  [{ input: [{ id: "same" }, { id: "same" }], previous_response_id: "same" }, ["item same", "response same"]],
])("%j names %j", (body, named) => {
  expect(namedIn(body)).toEqual(named);
});

/** Types of items of OpenAI's SDK that say something: no answer or conversation has a trigger. */
type ItemType = Exclude<NonNullable<ResponseInputItem["type"]>, "item_reference" | "compaction_trigger">;
/** Whole item of each type, as an answer to a call with `store: false` has it. */
const WHOLE: { readonly [Type in ItemType]: Omit<Extract<ResponseInputItem, { type: Type }>, "id" | "type"> } = {
  message: { role: "assistant", status: "completed", content: [] },
  reasoning: { summary: [], encrypted_content: "sealed" },
  compaction: { encrypted_content: "sealed" },
  function_call: { call_id: "c", name: "f", arguments: "" },
  function_call_output: { call_id: "c", output: "" },
  custom_tool_call: { call_id: "c", name: "f", input: "" },
  custom_tool_call_output: { call_id: "c", output: "" },
  computer_call: { call_id: "c", action: { type: "wait" }, pending_safety_checks: [], status: "completed" },
  computer_call_output: { call_id: "c", output: { type: "computer_screenshot" } },
  local_shell_call: { call_id: "c", action: { type: "exec", command: [], env: {} }, status: "completed" },
  local_shell_call_output: { output: "" },
  shell_call: { call_id: "c", action: { commands: [] } },
  shell_call_output: { call_id: "c", output: [] },
  apply_patch_call: { call_id: "c", operation: { type: "delete_file", path: "a" }, status: "completed" },
  apply_patch_call_output: { call_id: "c", output: "", status: "completed" },
  web_search_call: { action: { type: "search", query: "a" }, status: "completed" },
  file_search_call: { queries: [], results: [], status: "completed" },
  code_interpreter_call: { code: "", container_id: "c", outputs: null, status: "completed" },
  image_generation_call: { result: "aGk=", status: "completed" },
  mcp_call: { arguments: "", name: "f", server_label: "s" },
  mcp_list_tools: { server_label: "s", tools: [] },
  mcp_approval_request: { arguments: "", name: "f", server_label: "s" },
  mcp_approval_response: { approval_request_id: "a", approve: false },
  tool_search_call: { arguments: {} },
  tool_search_output: { tools: [] },
  additional_tools: { role: "developer", tools: [] },
  program: { call_id: "c", code: "", fingerprint: "f" },
  program_output: { call_id: "c", result: "", status: "completed" },
  configuration_update: { reasoning: { effort: "low" } },
};

test.each(Object.entries(WHOLE))(
  "who sends a whole item of the type %s back names no kept one; who sends its id and type alone does",
  (type, item) => {
    expect(namedIn({ input: [{ id: "i1", type, ...item }] })).toEqual([]);
    expect(namedIn({ input: [{ ...item, id: "i1", type }] })).toEqual([]);
    expect(namedIn({ input: [{ id: "i1", type }] })).toEqual(["item i1"]);
  },
);

test.each<readonly [ResponseInputItem]>([
  [{ type: "computer_call", id: "i1", call_id: "c", actions: [], pending_safety_checks: [], status: "completed" }],
  [{ type: "apply_patch_call_output", id: "i1", call_id: "c", status: "completed" }],
  [{ type: "configuration_update", id: "i1", text: { format: { type: "text" } } }],
])("who sends %j back, which lacks optional members, names no kept one", (item) => {
  expect(namedIn({ input: [item] })).toEqual([]);
});

test.each<readonly [string, readonly string[]]>([
  ['{"input":[{"type":"multi_agent_call","id":"a","arguments":"x"}]}', []],
  ['{"input":[{"type":"multi_agent_call_output","id":"a","output":[]}]}', []],
  ['{"input":[{"type":"agent_message","id":"a","content":[]}]}', []],
  ['{"previous_response_id":"a","previous_response_id":"b"}', ["response a", "response b"]],
  ['{"Previous_Response_ID":"a","previousResponseId":"b"}', ["response a", "response b"]],
  ['{"previous\\u005fresponse\\u005fid":"\\u0061"}', ["response a"]],
  ['{"previous_response_id\\u0000x":"a"}', ["response a"]],
  ['{"extra_body":{"previous_response_id":"a","extra_body":{"conversation":"b"}}}', ["response a", "conversation b"]],
  ['{"conversation":{"id":"a","ID":"b"}}', ["conversation a", "conversation b"]],
  ['{"input":[{"type":"message","type":"item_reference","id":"a","content":"x","role":"user"}]}', ["item a"]],
  ['{"input":[{"Type":"item_reference","id":"a","content":"x","role":"user"}]}', ["item a"]],
  ['{"input":[{"type":"message","id":"a","Id":"b","content":"x","role":"user"}]}', ["item a", "item b"]],
  ['{"input":[{"type":"message","id":"a","Content":"x","role":"user"}]}', ["item a"]],
  ['{"Input":[{"id":"a"}],"input":"x"}', ["item a"]],
  ['{"input":[{"type":"reasoning","id":"a","encrypted_content":"x","encrypted_content":null}]}', ["item a"]],
  ['{"input":[{"type":"reasoning","id":"a","encrypted_content":"x","Encrypted_Content":null}]}', ["item a"]],
  ['{"input":[{"type":"reasoning","id":"a","encrypted_content":{}}]}', ["item a"]],
  ['{"input":[{"type":"image_generation_call","id":"a","result":false}]}', ["item a"]],
  ['{"input":[{"type":"image_generation_call","id":"a","result":"x","result":null}]}', ["item a"]],
  ['{"input":[{"id":"a","role":"user","role":null,"content":"x"}]}', ["item a"]],
  ['{"input":[{"id":"a","role":null,"content":"x"}]}', ["item a"]],
  ['{"input":[{"type":"computer_call","id":"a","call_id":"c","status":"completed"}]}', ["item a"]],
  ['{"input":[{"type":"computer_call","id":"a","action":null,"actions":[],"actions":null}]}', ["item a"]],
  ['{"input":[{"type":"file_search_call","id":"a","queries":["q"],"results":null}]}', ["item a"]],
  ['{"providerOptions":{"openai":{"previousResponseId":"a"}}}', ["response a"]],
  // By which vLLM names the response that it makes.
  ['{"request_id":"a"}', ["response a"]],
])("b374: whatever a parser may read as a reference is one: %s names %j", (body, named) => {
  expect(namedIn(body)).toEqual(named);
});

test.each([
  '{"previous_response_id":5}',
  '{"previous_response_id":["a"]}',
  '{"conversation":["a"]}',
  '{"conversation":{"id":{"id":"a"}}}',
  '{"input":[{"id":["a"]}]}',
  '{"input":[{"id":5}]}',
  `{"previous_response_id":"${"a".repeat(600)}"}`,
  `{"${"a".repeat(300)}":1}`,
  "[]",
  "{",
  '{"input":"x"}{"input":"y"}',
])("b374: %s is refused", (body) => {
  expect(() => scan(body).references).toThrow(BodyFault);
});

test("b374: no body names more than can be looked up", () => {
  const input = Array.from({ length: 1_001 }, (_, id) => ({ id: `i${id}` }));
  expect(() => scan({ input }).references).toThrow("more than 1000");
  expect(scan({ input: input.slice(1) }).references).toHaveLength(1_000);
});

test("b374: a body that names more is refused once it has, and not only at its end", () => {
  const ids = Array.from({ length: 5_000 }, (_, id) => `{"id":"i${id}"}`).join();
  expect(() => scan(`{"input":[${ids},`)).toThrow("more than 1000");
  const ofOne = Array.from({ length: 5_000 }, (_, id) => `"id":"i${id}"`).join();
  expect(() => scan(`{"input":[{${ofOne},`)).toThrow("more than 1000");
  const doubled = Array.from({ length: 5_000 }, (_, id) => `"previous_response_id":"r${id}"`).join();
  expect(() => scan(`{${doubled},`)).toThrow("more than 1000");
});

test.each<readonly [string | object, readonly string[]]>([
  [{ input: [{ type: "message", role: "user", id: "m1", content: [{ file_id: "f1" }] }] }, ["file f1"]],
  [{ input: [{ id: "i1", content: [{ file_id: "f1" }] }] }, ["file f1", "item i1"]],
  [{ input: [[{ content: [{ file_id: "f1" }] }]] }, ["file f1"]],
  [{ input: [{ Content: [{ File_ID: "f1" }], content: [{ "file-id": "f2" }] }] }, ["file f1", "file f2"]],
  [{ input: [{ type: "message", content: [{ annotations: [{ file_id: "no" }] }] }] }, []],
  [{ input: [{ type: "message", content: [{ Annotations: [{ file_id: "f1" }] }] }] }, ["file f1"]],
  [{ extra_body: { metadata: { file_id: "f1" } }, metadata: { file_id: "no" } }, ["file f1"]],
  [
    { tools: [{ file_ids: ["f1", ["f2"], { id: "f3" }] }, { parameters: { file_id: "no" } }] },
    ["file f1", "file f2", "file f3"],
  ],
  [{ prompt: { variables: { metadata: { file_id: "f1" } } } }, ["file f1"]],
  [{ prompt: { variables: { file_id: { type: "input_file", file_id: "f1" } } } }, ["file f1"]],
  [
    { prompt: { Variables: { file_id: "f1" }, variables: [{ file_id: "f2" }], file_id: "f3" } },
    ["file f1", "file f2", "file f3"],
  ],
  [
    { tools: [{ type: "namespace", tools: [{ file_ids: ["f1"], Parameters: { file_id: "f2" } }] }] },
    ["file f1", "file f2"],
  ],
  [{ input: [{ type: "additional_tools", tools: [{ vector_store_ids: ["s1"] }] }] }, ["store s1"]],
  [{ providerOptions: [{ input: { file_id: "f1" } }] }, ["file f1"]],
  [{ file_id: [null, "", 1, true, { x: 1 }] }, []],
  ['{"a":{"file_id":"f1","file_id":"f2"}}', ["file f1", "file f2"]],
  ['{"a":{"file_id\\u0000x":"f1"}}', ["file f1"]],
])("b375: %j names the files %j, wherever they stand", (body, ids) => {
  expect(namedIn(body).toSorted()).toEqual([...ids]);
});

test.each([
  { prompt_cache_options: { comparison_response_id: "r1" } },
  { prompt_cache_options: { ComparisonResponseId: "r1" } },
  { extra_body: { prompt_cache_options: { comparison_response_id: "r1" } } },
])("b450: a response that a prompt's cache is compared with is named: %j", (body) => {
  expect(namedIn(body)).toEqual(["response r1"]);
});

const CALLED_FILE = { file_id: "r7", fileUri: "r7" };
const EXAMPLES = { examples: [CALLED_FILE] };

test.each<readonly [ServedOperation, object]>([
  ["gateway.messages", { tools: [{ input_schema: EXAMPLES, input_examples: [CALLED_FILE] }] }],
  ["gateway.messages", { messages: [{ content: [{ tool: { definition: { input_examples: [CALLED_FILE] } } }] }] }],
  [
    "gateway.messages",
    { messages: [{ content: [{ type: "mcp_tool_listing", tools: [{ input_schema: EXAMPLES }] }] }] },
  ],
  [
    "gateway.chat_completions",
    { functions: [{ parameters: EXAMPLES }], tools: [{ function: { parameters: EXAMPLES } }] },
  ],
  ["gateway.responses", { tools: [{ type: "namespace", tools: [{ parameters: EXAMPLES, output_schema: EXAMPLES }] }] }],
  ["gateway.responses", { input: [{ type: "tool_search_output", tools: [{ parameters: EXAMPLES }] }] }],
  ["gateway.responses", { input: [{ type: "mcp_list_tools", tools: [{ input_schema: EXAMPLES }] }] }],
  ["gateway.responses", { input: [{ type: "tool_search_call", arguments: CALLED_FILE }] }],
  ["gateway.responses", { prompt: { id: "pmpt_1", variables: { file_id: "r7" } } }],
  ["gateway.generate_content", { tools: [{ functionDeclarations: [{ parameters: EXAMPLES, response: EXAMPLES }] }] }],
  ["gateway.generate_content", { tools: [{ function_declarations: [{ parameters_json_schema: EXAMPLES }] }] }],
  ["gateway.generate_content", { generationConfig: { responseSchema: EXAMPLES, responseJsonSchema: EXAMPLES } }],
])("a call of %s whose schemas, tools and variables have a file's id as data names no file: %j", (operation, body) => {
  expect(scan(body, GATEWAY_OPERATIONS[operation].kept).references).toEqual([]);
});

test.each<readonly [ServedOperation, object, string]>([
  ["gateway.messages", { messages: [{ content: [{ source: { file_id: "f1" }, tool: { file_id: "f2" } }] }] }, "f1 f2"],
  ["gateway.messages", { tools: [{ Input_Examples: [{ file_id: "f1" }], file_ids: ["f2"] }] }, "f1 f2"],
  [
    "gateway.chat_completions",
    { functions: [{ file_id: "f1" }], messages: [{ parameters: { file_id: "f2" } }] },
    "f1 f2",
  ],
  ["gateway.generate_content", { contents: [{ parts: [{ toolCall: { args: { fileUri: "f1" } } }] }] }, "f1"],
  ["gateway.generate_content", { tools: [{ parameters: { fileUri: "f1" } }], response: { fileUri: "f2" } }, "f1 f2"],
])("b375: a call of %s names a file beside its schemas: %j", (operation, body, ids) => {
  const { references } = scan(body, GATEWAY_OPERATIONS[operation].kept);
  expect(references.map(({ id }) => id).join(" ")).toBe(ids);
});

const LETTERS = Array.from({ length: 2_600 }, (_, at) => String.fromCodePoint(0x4e00 + at * 7)).join("");

test.each([
  ["a host of many letters", `https://${LETTERS}/`],
  ["a host of 255 letters", `https://${LETTERS.slice(0, 255)}/`],
  ["a host of encoded letters", `https://${encodeURIComponent(LETTERS.slice(0, 800))}/`],
  ["a host of 255 characters", `https://${"xn--mgbh0fb.".repeat(21)}com/`],
  ["a long path", `https://example.com${"/v1/files".repeat(900)}`],
  ["a long path at Google's", `https://googleapis.com${"/a".repeat(4_000)}`],
  ["a long path to a file of Google's", `https://googleapis.com${"/a".repeat(4_000)}/v1beta/files/x`],
])("b83: who names files by URIs with %s holds the thread for no slice", async (_, fileUri) => {
  const part = JSON.stringify({ fileData: { fileUri } });
  const text = Buffer.from(`{"contents":[{"parts":[${`${part},`.repeat((8 << 20) / part.length)}{}]}]}`);
  const kept = GATEWAY_OPERATIONS["gateway.generate_content"].kept ?? {};
  const slice = (): boolean => new ReferenceScan(text, kept, geminiNameReader([])).run(SLICE_STEPS);
  expect(await leastOfFive(50, () => threadCpuTimeOf(slice))).toBeLessThan(50);
});

test("b374: items without ids take no memory while a body is read", () => {
  const text = Buffer.from(`{"input":[${"{},".repeat(400_000)}{}]}`);
  const found = new ReferenceScan(text, RESPONSES);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  while (!found.run(1_000));
  globalThis.gc?.();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(30 << 20);
  expect(found.references).toEqual([]);
});

test.each([
  ["{}", true],
  ['{"store":true}', true],
  ['{"store":null}', true],
  ['{"store":false}', false],
  ['{"store":"false"}', true],
  ['{"store":[false]}', true],
  ['{"Store":false}', true],
  ['{"store":false,"store":true}', true],
  ['{"store":false,"Store":true}', true],
  ['{"store":false,"extra_body":{"store":true}}', true],
  ['{"metadata":{"store":false}}', true],
])("after %s an upstream may keep the answer: %j", (body, mayKeep) => {
  expect(scan(body).mayKeep).toBe(mayKeep);
});
