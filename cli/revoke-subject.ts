import type { RevokedSubject } from "../server/management/revoked-subjects.ts";
import type { AddCommand } from "./command/command.ts";
import { UsageError } from "./command/usage-error.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { refuseToken } from "./management/named-subject.ts";
import { findNamedTeam } from "./management/named-team.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";
import { commandAt } from "./output/own-command.ts";
import { plainText } from "./output/plain-text.ts";

type Flags = ServerChoice & {
  readonly team?: string | undefined;
  readonly reason?: string | undefined;
  readonly output?: StructuredFormat;
};

/**
 * Adds `keyplane revoke-subject`, which has a team refuse the tokens and console sessions of a subject that began
 * before now (docs/decisions/mcp-oauth.md).
 */
export const addRevokeSubject: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("revoke-subject")
      .description("end a subject's access to a team by tokens and console sessions at once; a new sign-in is accepted")
      .argument("<subject>", "the sub claim of the person's tokens"),
  )
    .option("--team <team>", "the team, by name or id")
    .option("--reason <text>", "the reason, for the audit log")
    .addOption(outputOption())
    .example("keyplane revoke-subject ann --team research --data .keyplane", "of a team of keyplane up")
    .example(
      "keyplane revoke-subject ann --team research --server https://keys.example.com --reason lost",
      "of a server; the token is in KEYPLANE_TOKEN",
    )
    .action(async (subject: string, { team: named, reason, output, ...choice }: Flags) => {
      if (named === undefined) throw new UsageError("--team is needed: its name or id");
      refuseToken(subject);
      const client = await openManagement(env, choice);
      const team = await findNamedTeam(client, named);
      const revoked = await client.revokeSubject(team.id, subject, reason);
      if (output === undefined) {
        const revoke = (id: string) => commandAt(choice, env, `revoke ${id}`);
        for (const line of inLines(subject, team.name, revoked, revoke)) out(plainText(line));
      } else out(outputText({ subject, team: team.name, teamId: team.id, ...revoked }, output));
      if (!revoked.confirmed)
        throw new Error("the revocation stands, and not every replica has confirmed it: see keyplane doctor");
    });
};

function inLines(
  subject: string,
  team: string,
  { sequence, confirmed, keys = [] }: RevokedSubject,
  revoke: (id: string) => string,
): string[] {
  const change = sequence === null ? "" : `: change ${sequence}`;
  return [
    `team ${team} refuses the tokens and console sessions of ${subject} that began until now${change}`,
    ...keys.map(({ id, namespace, name, prefix }) => {
      const title = `${namespace === "" ? "" : `${namespace}/`}${name} (${prefix}...)`;
      return `works on, made by ${subject}: ${title}; to end it: ${revoke(id)}`;
    }),
    ...(confirmed ? ["confirmed: every replica refuses them"] : []),
  ];
}
