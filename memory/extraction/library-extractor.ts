import { randomUUID } from "node:crypto";
import type { Logger } from "../../runtime/log.ts";
import { startPolling } from "../../runtime/polling.ts";
import type { TeamBounds } from "../../runtime/team-bounds.ts";
import { TeamSlots } from "../../runtime/team-slots.ts";
import { keepNewest } from "../../server/context/bounded-map.ts";
import type { TextGenerator } from "../../server/gateway/library/generate-text.ts";
import type { Store } from "../../store/database/store.ts";
import {
  distinct,
  type FoundStatement,
  INSTRUCTIONS,
  MAX_ANSWER_TOKENS,
  readStatements,
  tokensOfCall,
} from "../rules/extraction.ts";
import {
  claimExtraction,
  type ExtractionLease,
  type ExtractionResult,
  reachOfLease,
  settleExtraction,
} from "../store/extraction/extraction-leases.ts";
import { findNearDuplicates } from "../store/writes/near-duplicates.ts";
import type { CountRead } from "./metrics.ts";

type Extraction = {
  readonly store: Store;
  readonly generator: Pick<TextGenerator, "generate">;
  readonly log: Logger;
  readonly count: CountRead;
};

const POLL_MS = 1_000;
/** Conversations that a process reads at a time: a lease waits for its model, and asks little of the database. */
const MAX_LEASES = 8;
/** Milliseconds from which on a lease is slow: models read a passage in less. */
const SLOW_MS = 20_000;
/** Milliseconds of the call for a passage, and of the probe: a lease makes no other, and ends before its claim does. */
const TIMEOUT_MS = 60_000;
/** Milliseconds that the probe waits for limits: if a minute has room for one call, the passage has taken it. */
const PROBE_WAIT_MS = 60_000;
/** Conversation that every model has an answer to: a model that fails at it fails at every conversation. */
const PROBE = JSON.stringify([{ role: "user", content: "Anna drinks tea." }]);
/** Libraries of which a process remembers the part that was served last. */
const MAX_REMEMBERED = 1_000;

/**
 * Has models read the conversations that libraries are handed, in the background. The libraries take turns of one
 * passage each, whichever process has them, and so do their teams, and a library's subjects. A model adds statements,
 * and nothing else; what fails is tried again later.
 *
 * @returns stops it, and waits for what is under way
 */
export function startLibraryExtractor(extraction: Extraction, pollMs = POLL_MS): { close(): Promise<void> } {
  const { store, log } = extraction;
  const slots = new TeamSlots({ most: MAX_LEASES, slowMs: SLOW_MS }, () => performance.now());
  const lastParts = new Map<string, string>();
  const claim = async (bounds: TeamBounds) => {
    const lease = await claimExtraction(store, randomUUID(), bounds, (libraryId) => lastParts.get(libraryId));
    if (lease !== undefined) keepNewest(lastParts, lease.libraryId, lease.storedIn, MAX_REMEMBERED);
    return lease;
  };
  return startPolling({
    ...{ most: MAX_LEASES, pollMs, writes: store.writes },
    runNext: () => slots.takeNext(claim, (lease) => take(extraction, lease)),
    onFailure: (error) => log.warn({ error }, "a conversation could not be read; it is tried again"),
  });
}

/** Outcomes of a lease as the metrics name them. */
const OUTCOMES = { read: "read", done: "read", useless: "useless", stuck: "failed", failed: "failed" } as const;

/** Does the work of a lease. An answer that cannot be saved counts as useless, or it would be asked and paid for without end. */
async function take(extraction: Extraction, lease: ExtractionLease): Promise<void> {
  try {
    const result = await read(extraction, lease);
    await settleExtraction(extraction.store, lease, result);
    extraction.count(OUTCOMES[result.kind]);
  } catch (error) {
    const why = "what the model found could not be saved";
    await settleExtraction(extraction.store, lease, { kind: "useless", why, tokens: tokensOfCall(lease.passage) });
    extraction.count("useless");
    throw error;
  }
}

async function read({ store, generator }: Extraction, lease: ExtractionLease): Promise<ExtractionResult> {
  const { digest, publicId, model, passage } = lease;
  const ask = (material: string, waitMs = 0) =>
    generator.generate({
      ...{ digest, publicId, model, waitMs, timeoutMs: TIMEOUT_MS },
      ...{ instructions: INSTRUCTIONS, material, maxTokens: MAX_ANSWER_TOKENS },
    });
  const result = await ask(passage);
  if (result.kind !== "text") {
    const { kind, why, retryAfterMs, isOverrun, isDoubtful } = result;
    const isUseless = kind === "refused" || isOverrun === true;
    const tokens = tokensOfCall(passage) + tokensOfCall(PROBE);
    // Who has no credit left is refused like a passage that is too long: that it is the passage's fault, the probe shows.
    if ((isUseless || isDoubtful === true) && (await ask(PROBE, PROBE_WAIT_MS)).kind === "text") {
      return isUseless ? { kind: "useless", why, tokens } : { kind: "stuck", why, tokens, retryAfterMs };
    }
    return { kind: "failed", why, retryAfterMs, tokens: isOverrun === true && isDoubtful === true ? tokens : 0 };
  }
  const found = result.text === undefined ? undefined : readStatements(result.text);
  if (found === undefined) {
    const why = "the model's answer is not the JSON that it was asked for";
    return { kind: "useless", why, tokens: tokensOfCall(passage) };
  }
  const statements = distinct([...lease.statements, ...found]);
  return lease.isLast ? saveNew(store, lease, statements) : { kind: "read", statements };
}

/**
 * Returns the statements to save. A statement that the library has almost so is left out: it may well have been
 * recalled in the conversation.
 */
async function saveNew(
  { db }: Store,
  lease: ExtractionLease,
  statements: readonly FoundStatement[],
): Promise<ExtractionResult> {
  const fresh: FoundStatement[] = [];
  for (const statement of statements) {
    const near = await findNearDuplicates(db, reachOfLease(lease), lease.libraryId, statement.content);
    if (near.every(({ otherNumbers }) => otherNumbers)) fresh.push(statement);
  }
  return { kind: "done", statements: fresh, known: statements.length - fresh.length };
}
