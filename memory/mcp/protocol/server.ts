import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { permits } from "../../../domain/access/authorize.ts";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { Reach } from "../../../domain/access/reach.ts";
import { isForOperator } from "../../../server/http/problems/error-handler.ts";
import { Problem } from "../../../server/http/problems/problem.ts";
import { problemOf } from "../../../server/http/problems/problem-of.ts";
import { findLibraryToRead } from "../../../server/libraries/libraries.ts";
import { libraryUser } from "../../../server/libraries/library-use.ts";
import type { ServerDeps } from "../../../server/product/deps.ts";
import type { Db } from "../../../store/database/change.ts";
import type { QuestionEmbedder } from "../../embedding/question.ts";
import { type QuestionSpace, questionSpaces } from "../../store/search/candidates/nearest.ts";
import type { MemoryWrite } from "../../writes/write-as.ts";
import { type MemoryTool, type ToolAnswer, type ToolContext, ToolFault } from "../definition/tool.ts";
import { memoryHistory } from "../tools/history-tool.ts";
import { memoryLibraries } from "../tools/library-tools.ts";
import { memoryList, memoryRecall, memorySearch } from "../tools/read-tools.ts";
import { memorySaveAtom } from "../tools/save-tool.ts";
import { memoryWakeUp } from "../tools/wake-up-tool.ts";
import { memoryCorrectAtom, memoryForgetAtom } from "../tools/write-tools.ts";
import { instructionsFor } from "./instructions.ts";

/** Tools by their name. A map: no name that a caller makes up finds what an object inherits. */
export const TOOLS: ReadonlyMap<string, MemoryTool> = new Map(
  [
    ...[memorySearch, memoryRecall, memoryWakeUp, memoryList, memoryHistory, memoryLibraries],
    ...[memorySaveAtom, memoryCorrectAtom, memoryForgetAtom],
  ].map((tool) => [tool.definition.name, tool]),
);

const IMPLEMENTATION = { name: "keyplane-memory", title: "Keyplane memory", version: "1.0.0" };

const NO_TOOL = "There is no tool of this name for this key: tools/list has the names of those that there are.";

/** Dependencies of the memory's tools. */
export type McpDeps = ServerDeps & {
  /** Embedder of the questions of searches. */
  readonly questions: QuestionEmbedder;
};

type PresentKey = Pick<ToolContext, "key" | "reach">;

/** Request that a protocol server is for. */
type MemoryRequest = {
  /** Id by which the log knows the request. */
  readonly requestId: string;
  /** Signal that is aborted when the client no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** Libraries that the request reaches, and the subject whose memory it is for. */
  readonly reach: Reach;
  /**
   * Returns the key as it is now, and what the request reaches by it. Throws a Problem if the key may not call the tool
   * any more.
   */
  present(operation: MemoryTool["operation"]): PresentKey;
  /** Writes as the request's key, by what it may do at that moment. */
  write<T>(db: Db, operation: MemoryTool["operation"], task: MemoryWrite<T>): Promise<T | undefined>;
  /** Ends the request: called if a tool finds that the key has lost its right. */
  refuse(shown: Problem): void;
};

/**
 * Makes the protocol server for one request with one key: it lists and runs the tools that this key may call, and no
 * others. It declares no `listChanged`: no session outlives the request to be notified.
 */
export function memoryServer(deps: McpDeps, key: KeyRecord, request: MemoryRequest): Server {
  const allowed = [...TOOLS.values()].filter(({ operation }) => permits(key, operation));
  const instructions = instructionsFor(allowed);
  const server = new Server(IMPLEMENTATION, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler("tools/list", () => ({ tools: allowed.map(({ definition }) => definition) }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const tool = allowed.find(({ definition }) => definition.name === params.name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, NO_TOOL);
    const { signal, reach, present, write } = request;
    const args = params.arguments ?? {};
    // The call has waited for its slot: the key may have been narrowed meanwhile.
    const inTeamSlot = <T>(task: (db: Db, present: PresentKey) => Promise<T>) =>
      deps.store.memory.run({ teamId: key.teamId, signal }, async (db) => task(db, present(tool.operation)));
    const call = async (): Promise<ToolAnswer> => {
      const question = tool.questionOf?.(args);
      // Between two slots: nothing of the database is held while a model is asked.
      const meaning =
        question &&
        (await deps.questions.vectorsOf({ reach, text: question.query }, () =>
          inTeamSlot((db, present) => spacesOf(db, present, question.library)),
        ));
      return inTeamSlot((db, present) => {
        const { clock, recordCapacity } = deps;
        const { key, reach } = present;
        const user = libraryUser(deps, key);
        return tool.call(
          {
            clock,
            recordCapacity,
            db,
            reach,
            ...user,
            meaning,
            write: (operation, task) => write(db, operation, task),
          },
          args,
        );
      });
    };
    return answer(tool, deps.log, call(), request);
  });
  return server;
}

/** Returns the ways to embed a question to a library; none if the key does not reach it, which the tool reports. */
async function spacesOf(
  db: Db,
  { key, reach }: PresentKey,
  named: string | undefined,
): Promise<QuestionSpace[] | undefined> {
  const library = await findLibraryToRead(db, key, named);
  return library === undefined ? [] : questionSpaces(db, reach, library?.id ?? null);
}

async function answer(
  { operation, definition }: MemoryTool,
  log: ServerDeps["log"],
  called: Promise<ToolAnswer>,
  { requestId, refuse }: Pick<MemoryRequest, "requestId" | "refuse">,
): Promise<CallToolResult> {
  try {
    const { structured, text } = await called;
    return { content: [{ type: "text", text }], structuredContent: structured };
  } catch (error) {
    if (error instanceof ToolFault) return failure(error.message);
    if (error instanceof Problem) {
      refuse(error);
      return failure(error.detail);
    }
    const { readOnlyHint, idempotentHint } = definition.annotations ?? {};
    const shown = problemOf(error, readOnlyHint ? "GET" : "POST", idempotentHint ? "as it is" : undefined);
    if (isForOperator(shown)) log.error({ error, operation, requestId }, "a memory tool failed");
    return failure(shown.code === "internal" ? "The tool failed here: try again later." : shown.detail);
  }
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
