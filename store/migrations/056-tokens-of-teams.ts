/** What models' answers used is read by team, by five minutes as by hour: without what other teams' keys have used. */
export const indexes = [{ name: "key_tokens_of_team", on: "key_tokens (team_id, slot)" }];
