/** What agents write of a session in which a user said when the harbour is deployed, and was answered. */
export const CLAUDE_CODE = [
  { type: "summary", summary: "About deploys" },
  { type: "user", isMeta: true, message: { role: "user", content: "Caveat: META" } },
  { type: "user", message: { role: "user", content: "<command-name>/clear</command-name>" } },
  {
    type: "user",
    message: {
      role: "user",
      content: [
        { type: "text", text: "<ide_opened_file>IDE</ide_opened_file>" },
        { type: "text", text: "We deploy the harbour\0 on Mondays." },
        { type: "text", text: "<system-reminder>REMINDER</system-reminder>" },
      ],
    },
  },
  { type: "user", isCompactSummary: true, message: { role: "user", content: "SUMMARY" } },
  {
    type: "assistant",
    message: { role: "assistant", content: [{ type: "text", text: "Noted." }, { type: "tool_use" }] },
  },
  { type: "user", message: { role: "user", content: [{ type: "tool_result", content: "TOOL" }] } },
  { type: "user", isSidechain: true, message: { role: "user", content: "SIDECHAIN" } },
];
export const CODEX = [
  { type: "session_meta", payload: { id: "s" } },
  {
    type: "response_item",
    payload: { type: "message", role: "developer", content: [{ type: "input_text", text: "DEVELOPER" }] },
  },
  {
    type: "response_item",
    payload: { type: "message", role: "user", content: [{ type: "input_text", text: "<environment_context>ENV" }] },
  },
  {
    type: "response_item",
    payload: {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "<environment_context>ENV" },
        { type: "input_text", text: "We deploy the harbour on Mondays." },
      ],
    },
  },
  { type: "response_item", payload: { type: "function_call_output", output: "TOOL" } },
  { type: "event_msg", payload: { type: "agent_message", message: "Noted." } },
];
