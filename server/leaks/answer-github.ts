import type { Store } from "../../store/database/store.ts";
import { findSecrets } from "../../store/keys/events/key-leaks.ts";
import { actOnLeak } from "./act.ts";
import type { CountLeak } from "./metrics.ts";
import { type GithubMatch, shownUrl } from "./report.ts";

/** Feedback on a match (GitHub's secret scanning partner program, "Provide feedback for false positives"). */
export type GithubFeedback = {
  readonly token_hash: string;
  readonly token_type?: string;
  readonly label: "true_positive" | "false_positive";
};

/** Acts on GitHub's matches, whichever team's key they are. A report that is sent again changes nothing more. */
export async function answerGithub(
  { store, count }: { readonly store: Store; readonly count: CountLeak },
  address: string,
  matches: readonly GithubMatch[],
): Promise<GithubFeedback[]> {
  const digests = matches.flatMap(({ digest }) => digest ?? []);
  const secrets = new Map((await findSecrets(store.db, [...new Set(digests)])).map((one) => [one.digest, one]));
  const by = { actor: "github", address };
  for (const secret of secrets.values()) {
    const found = matches.find(({ digest }) => digest === secret.digest)?.url;
    const url = found === undefined ? undefined : shownUrl(found);
    count("github", (await actOnLeak(store, secret, { reporter: "github", by, url })).outcome);
  }
  return matches.map(({ digest, tokenHash, tokenType }) => {
    const isOurs = digest !== undefined && secrets.has(digest);
    if (!isOurs) count("github", "unknown");
    return {
      token_hash: tokenHash,
      ...(tokenType === undefined ? {} : { token_type: tokenType }),
      label: isOurs ? "true_positive" : "false_positive",
    };
  });
}
