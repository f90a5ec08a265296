import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConversation } from "../../examples/capture/transcript.ts";
import { CLAUDE_CODE, CODEX } from "./transcripts.ts";

test.each([
  ["Claude Code", CLAUDE_CODE, ["user: We deploy the harbour on Mondays.", "assistant: Noted."]],
  ["Codex", CODEX, ["user: We deploy the harbour on Mondays."]],
])(
  "The hook of examples/capture reads of a session of %s what people and the assistant said",
  async (_, transcript, said) => {
    const folder = await mkdtemp(join(tmpdir(), "transcript-"));
    try {
      const file = join(folder, "transcript.jsonl");
      await writeFile(file, [...transcript.map((line) => JSON.stringify(line)), "{broken"].join("\n"));
      const read = await readConversation(file);
      expect(read.map(({ role, content }) => `${role}: ${content}`)).toEqual(said);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
