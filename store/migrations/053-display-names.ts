/**
 * Keys are looked for by parts of their display names too, where those are other than their names: by the terms that
 * migration 020 has of a name.
 */
export const indexes = [
  {
    name: "keys_display_terms",
    on: "keys using gin (key_terms(team_id, state, lower(display_name))) with (fastupdate = off) where display_name <> name",
  },
];
