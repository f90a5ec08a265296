import type { Registry } from "@prometheus-io/client";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Db } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import type { ManagementToken } from "../auth/management/management-token.ts";
import type { AuthMetrics } from "../auth/metrics.ts";
import type { RefusalRecorder } from "../auth/refusals/refusal-event.ts";
import type { ValidateJwt } from "../auth/tokens/jwt.ts";
import type { BudgetGrants } from "../budgets/budget-grants.ts";
import type { OpenStreams } from "../calls/calls.ts";
import type { ServerConfig } from "../context/config.ts";
import type { AnswerBudget } from "../http/answers/answer-budget.ts";
import type { RequestMetrics } from "../http/request-metrics.ts";
import type { KeyIndexView } from "../key-index/key-index-view.ts";
import type { InstallationLimits } from "../limits/installation-limits.ts";
import type { ObjectOwners } from "../ownership/object-owners.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { CurrentPrices } from "../usage/price-file.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";

/** Capacity for the records of what callers save in the memory. */
export type SaveRecords = {
  /**
   * Takes capacity for some records.
   *
   * @param records number of records; one by default
   * @returns milliseconds that the caller has to wait: 0 if there is capacity
   */
  waitFor(db: Db, caller: string, records?: number): Promise<number>;
};

/** Dependencies of the server's parts. */
export type ServerDeps = {
  readonly store: Store;
  /** Encrypts and decrypts the providers' credentials. */
  readonly keyring: Keyring;
  readonly index: KeyIndexView;
  readonly streams: OpenStreams;
  readonly answers: AnswerBudget;
  readonly recordCapacity: SaveRecords;
  readonly usage: UsageRecorder;
  readonly prices: CurrentPrices;
  readonly refusals: RefusalRecorder;
  /** Limits of the installation; null if there is only one replica. */
  readonly installationLimits: InstallationLimits | null;
  readonly budgets: Pick<BudgetGrants, "reserve" | "settle">;
  /** Owners of the responses, conversations and files that upstreams keep. */
  readonly owners: Pick<ObjectOwners, "record" | "findOrigins" | "end" | "charge" | "isCharged">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: RequestMetrics & AuthMetrics & { readonly registry: Registry };
  /** Tracing; null if nothing is traced. */
  readonly tracing: Tracing | null;
  readonly config: ServerConfig;
  /** Token that opens the management API; null if the installation has none. */
  readonly managementToken: ManagementToken | null;
  /** Command that prints a link to sign in to the console, on the machine of an embedded server. */
  readonly linkCommand?: string;
  /** Validates tokens of issuers, which open the same API and the memory over MCP; null if no issuer is trusted. */
  readonly validateJwt: ValidateJwt | null;
};
