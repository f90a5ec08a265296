/** Characters of words, folded, and of scripts that are written without spaces: as regular expressions of PostgreSQL. */
const LETTER = "[a-z0-9\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u1fff\\u2c00-\\u2dff\\ua640-\\uabff]";
const CJK =
  "[\\u3005-\\u3007\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\U00020000-\\U0003ffff]";

/**
 * What atoms are besides a statement: facts for programs, what they have to do with each other, when they end, and
 * what they are found by beside their words.
 */
export const sql = `
-- Metadata, links and expiry of atoms. A link is a row's own, and leads to what is there: the id of an atom that was
-- deleted comes back never.

alter table atoms
  add column metadata jsonb not null default '{}',
  add column links jsonb not null default '[]',
  add column expires_at timestamptz(3);
alter table atoms
  alter column metadata set statistics 0,
  alter column links set statistics 0;

alter table atom_revisions
  add column metadata jsonb not null default '{}',
  add column links jsonb not null default '[]',
  add column expires_at timestamptz(3);

create or replace function keep_atom_revision() returns trigger language plpgsql as $$
begin
  insert into atom_revisions (atom_id, revision, content, tags, source, importance, updated_at, metadata, links,
    expires_at)
  values (old.id, old.revision, old.content, old.tags, old.source, old.importance, old.updated_at, old.metadata,
    old.links, old.expires_at);
  return new;
end $$;

-- Near-duplicates: each number is bound to the library, so that no other library's rows are read. Atoms that were there
-- before, or that a replica of the version before writes, have none until they are corrected.

alter table atoms add column sketch bigint[] not null default '{}';
alter table atoms alter column sketch set statistics 0;

-- Semantic search (memory/store/embedding/).

-- By which model of which gateway a library's atoms are embedded, and the key that this is done with. \`space\` counts the
-- models: vectors of two are not compared. Its table of vectors needs the extension vector, which may not be there
-- (store/database/migrate/vector-table.ts).
create table library_embeddings (
  library_id text primary key references libraries (id) on delete cascade,
  gateway_id text not null,
  model text not null,
  asked_dimensions integer,
  key_id text not null,
  space integer not null default 1,
  -- Of the space's first vector: which upstream and model made it, and its length.
  served_by text,
  dimensions integer,
  -- Of the atoms that were there before: up to which, by their time and id, all are in the queue.
  walked_at timestamptz(3) not null default '-infinity',
  walked_id uuid not null default '00000000-0000-0000-0000-000000000000',
  is_walked boolean not null default false,
  -- The declaration of it has ended: what is left of it goes, some at a time.
  is_ended boolean not null default false,
  failures integer not null default 0,
  failure text,
  -- A save that began before the library was to be embedded ends within two seconds.
  due_at timestamptz not null default clock_timestamp() + interval '2 seconds',
  claim uuid
);
create index library_embeddings_due on library_embeddings (due_at);

-- Atoms without an embedding of their present revision. One that is set aside has a refusal, and is never due.
create table embedding_queue (
  atom_id uuid primary key references atoms (id) on delete cascade,
  library_id text not null,
  revision integer not null,
  tries integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  refusal text
);
create index embedding_queue_of_library on embedding_queue (library_id, due_at, atom_id);

-- No writer can forget to queue an atom.
create function queue_embedding() returns trigger language plpgsql as $$
begin
  insert into embedding_queue (atom_id, library_id, revision)
  select new.id, new.library_id, new.revision from library_embeddings
  where library_id = new.library_id and not is_ended
  on conflict (atom_id) do update set revision = excluded.revision, library_id = excluded.library_id, tries = 0,
    due_at = excluded.due_at, refusal = null;
  return null;
end $$;
create trigger atoms_queue_embedding after insert or update of revision on atoms
  for each row execute function queue_embedding();

-- Parts of words, by which a search finds what is written in another way (docs/decisions/memory-search.md). What queries
-- are folded and taken apart by is in memory/store/search/words/folded-text.ts; a test holds the two to each other.

-- Without case, accents and compatibility forms, in letters that a keyboard of another language has. What one character
-- stands for a whole phrase for is left out. Where for 200 characters there is no space and none of Latin, Han, Kana and
-- Hangul, the text is parted: to put many marks behind one letter in their order takes the square of their number. By no
-- collation of the database's: the same everywhere.
create function folded_text(written text) returns text
  language sql immutable parallel safe strict
  return case when octet_length(written) = length(written) then lower(written collate "C")
    else replace(replace(replace(replace(translate(lower(normalize(regexp_replace(
        normalize(regexp_replace(regexp_replace(written, '[\\u3200-\\u33ff\\ufb50-\\ufdff]', ' ', 'g'),
          '[^\\u0001-\\u02ff\\u3041-\\u3096\\u309b-\\u9fff\\uac00-\\ud7a3]{200}', '\\& ', 'g'), NFKD),
        '[\\u0300-\\u036f]+', '', 'g'), NFC) collate "C"),
      'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЇЈЉЊЋЏҐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςØøĐđÐðŁłĦħŦŧıŊŋÆŒÞ',
      'абвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіїјљњћџґαβγδεζηθικλμνξοπρστυφχψωσooddddllhhttinnæœþ'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') end;

-- Of each word its first two characters and each three that follow one another; of a script without spaces each two. A
-- run of more than 40 is cut into pieces that overlap: to count characters from a long one's beginning takes the longer,
-- the further one counts. A tsvector takes a mebibyte of terms, which 70,000 are never.
create function text_parts(written text) returns tsvector
  language sql immutable parallel safe strict
  return (
    select array_to_tsvector(coalesce(array_agg('part ' || part), '{}')) from (
      select substr(word, at, size) as part
      from (
        select case when token[2] is null then '^' || token[1] else token[2] end as word,
          case when token[2] is null then 3 else 2 end as size
        from regexp_matches(
          regexp_replace(folded_text(written), '(${LETTER}{40})(${LETTER}{2})|(${CJK}{40})(${CJK})', '\\1\\2\\3\\4 \\2\\4', 'g'),
          '(${LETTER}+)|(${CJK}+)', 'g') token
        group by 1, 2
      ) words, generate_series(1, greatest(1, length(word) - case when size = 3 then 2 else 0 end)) at
      limit 70000
    ) parts
  );

-- What stands in an identifier between two capital letters is a word besides. Of a long atom its beginning: to save 64 kB
-- with all of its parts would hold the embedded database for longer than others wait.
create function atom_parts(team_id text, library_id text, tags text[], content text, source text) returns tsvector
  language sql immutable parallel safe
  return atom_terms(team_id, library_id, tags) || text_parts(left(content, 8192) || ' ' || coalesce(source, '') || ' ' || (
    select coalesce(string_agg(tag, ' '), '') from unnest(tags) tag
  ) || ' ' || (
    select coalesce(string_agg(regexp_replace(name[1], '([a-z0-9])([A-Z])', '\\1 \\2', 'g'), ' '), '')
    from regexp_matches(left(content, 8192), '[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*', 'g') name
  ));

-- Which libraries a member's tokens reach over MCP: a list of namespace and name, or null for all of the team's.

alter table team_members add column library_refs jsonb;
drop trigger team_members_feed_update on team_members;
create constraint trigger team_members_feed_update after update of team_id, role, kind, value, library_refs
  on team_members deferrable initially deferred for each row
  when ((old.team_id, old.role, old.kind, old.value, old.library_refs)
    is distinct from (new.team_id, new.role, new.kind, new.value, new.library_refs))
  execute function record_change('team', 'team_id');

-- Whose tokens that were issued until then a team's memory refuses.

create table revoked_subjects (
  team_id text not null references teams (id),
  subject text not null,
  revoked_at timestamptz not null default clock_timestamp(),
  primary key (team_id, subject)
);
create constraint trigger revoked_subjects_feed after insert or update or delete on revoked_subjects
  deferrable initially deferred for each row execute function record_change('team', 'team_id');

-- What time a server's own clock told at its last sign of life: beside \`seen_at\` the doctor sees one that is wrong.
alter table replicas add column own_time timestamptz(3);
`;

/** Of atoms, of which there may be many by now. */
export const indexes = [
  { name: "atoms_by_expiry", on: "atoms (expires_at, id) where expires_at is not null" },
  { name: "atoms_by_sketch", on: "atoms using gin (sketch) with (gin_pending_list_limit = 256)" },
  { name: "atoms_by_update", on: "atoms (library_id, updated_at desc, id desc)" },
  // Beside the index of words, which a version before this one searches by, and which is no larger for it. It has no
  // pending list: a writer that found such a list full would keep the embedded database from all other callers.
  {
    name: "atoms_parts",
    on: `atoms using gin (atom_parts(team_id, library_id, tags, content, source))
      with (fastupdate = off)`,
    afterwards: "alter index atoms_parts alter column 1 set statistics 0",
  },
] as const;
