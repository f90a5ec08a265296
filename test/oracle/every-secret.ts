import { isAccepted } from "./judgement.ts";
import { type Ask, hex } from "./probers.ts";
import type { Report } from "./report.ts";
import type { SecretLedger } from "./secrets.ts";
import type { Standings } from "./standings.ts";

/** Every replica says of every secret what the store does. */
export async function checkEverySecret(
  { serverUrls, secrets }: { readonly serverUrls: readonly string[]; readonly secrets: Pick<SecretLedger, "held"> },
  report: Report,
  standings: Standings,
  ask: Ask,
): Promise<void> {
  for (const { value, digest, prefix, title } of secrets.held) {
    const standing = standings.get(hex(digest));
    const works = standing?.usable === true && (standing.until === null || standing.until > Date.now());
    const answers = await Promise.all(serverUrls.map((url) => ask(url, value)));
    answers.forEach((answer, replica) => {
      if (answer !== undefined && isAccepted(answer.status) === works) return;
      const what = `server-${replica} answers ${answer?.status ?? "nothing"}; by the store it ${works ? "works" : "is refused"}`;
      report.violation({ rule: "I8", subject: `${title} ${prefix}`, what });
    });
  }
}
