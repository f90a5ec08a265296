import type { AddCommand } from "./command/command.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { refuseToken } from "./management/named-subject.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";
import { plainText } from "./output/plain-text.ts";

type Flags = ServerChoice & { readonly reason?: string | undefined; readonly output?: StructuredFormat };

/**
 * Adds `keyplane end-sessions`, which ends a subject's sessions of the console in all teams
 * (docs/decisions/console.md).
 */
export const addEndSessions: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("end-sessions")
      .description("end a subject's console sessions at once, in all teams and on all servers")
      .argument(
        "<subject>",
        "the sub claim of the person's tokens; `console-link` for all who came by a one-time link",
      ),
  )
    .option("--reason <text>", "the reason, for the audit log")
    .addOption(outputOption())
    .example(
      "keyplane end-sessions ann --server https://keys.example.com --reason lost",
      "first end the sign-in at the issuer, which would admit the person again",
    )
    .action(async (subject: string, { reason, output, ...choice }: Flags) => {
      refuseToken(subject);
      const client = await openManagement(env, choice);
      const { ended } = await client.endSessions(subject, reason);
      out(output === undefined ? plainText(inWords(subject, ended)) : outputText({ subject, ended }, output));
    });
};

function inWords(subject: string, ended: number): string {
  if (ended === 0) return `${subject} has no session of the console: there was nothing to end`;
  return `ended ${ended} ${ended === 1 ? "session" : "sessions"} of ${subject}: every server refuses what comes by them`;
}
