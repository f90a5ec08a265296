-- The schema of version 17 as 17 migrations, one after the other, had made it: pg_dump 15 of an empty database, without
-- schema_migrations, settings and comments. One thing is not as pg_dump has it: new_atom_id is what the server allows.

CREATE FUNCTION public.atom_terms(team_id text, library_id text, tags text[]) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_tsvector((ARRAY[('team '::text || team_id), ('library '::text || library_id)] || (SELECT COALESCE(array_agg(('tag '::text || tag.tag)), '{}'::text[]) AS "coalesce" FROM unnest(atom_terms.tags) tag(tag))));

CREATE FUNCTION public.keep_atom_revision() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  insert into atom_revisions (atom_id, revision, content, tags, source, importance, updated_at)
  values (old.id, old.revision, old.content, old.tags, old.source, old.importance, old.updated_at);
  return new;
end $$;

do $$ begin
  if to_regprocedure('pg_catalog.uuidv7()') is not null then
    create function new_atom_id() returns uuid language sql volatile parallel safe as 'select pg_catalog.uuidv7()';
  else
    create function new_atom_id() returns uuid language sql volatile parallel safe as '
      select encode(
        substring(int8send(us / 1000) from 3) || int2send((x''7000''::integer + us % 1000 * 4096 / 1000)::int2)
          -- The variant, and 62 random bits.
          || substring(uuid_send(gen_random_uuid()) from 9),
        ''hex'')::uuid
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us offset 0) now';
  end if;
end $$;

CREATE FUNCTION public.record_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  this uuid := this_transaction();
  refs text[];
  entity text;
  next bigint;
begin
  if tg_op <> 'INSERT' then refs := refs || (to_jsonb(old) ->> tg_argv[1]); end if;
  if tg_op <> 'DELETE' then refs := refs || (to_jsonb(new) ->> tg_argv[1]); end if;
  foreach entity in array refs loop
    if not exists (
      select from changes where tx = this and kind = tg_argv[0] and ref = entity
    ) then
      update feed set head = head + 1 returning head into next;
      insert into changes (seq, tx, kind, ref) values (next, this, tg_argv[0], entity);
      if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('keyplane_changes', '');
      end if;
    end if;
  end loop;
  return null;
end $$;

CREATE FUNCTION public.record_revocation() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  this uuid := this_transaction();
begin
  update keys set revoked_seq = (
    select seq from changes where tx = this and kind = 'key' and ref = new.id
  ) where id = new.id;
  return null;
end $$;

CREATE FUNCTION public.refuse_revival() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception '% is final', old.state using errcode = 'KPEND';
end $$;

CREATE FUNCTION public.stamp_state_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.changed_tx := this_transaction();
  return new;
end $$;

CREATE FUNCTION public.this_transaction() RETURNS uuid
    LANGUAGE plpgsql
    AS $$
declare
  known text := current_setting('keyplane.transaction', true);
begin
  if coalesce(known, '') = '' then
    known := set_config('keyplane.transaction', gen_random_uuid()::text, true);
  end if;
  return known::uuid;
end $$;

CREATE TABLE public.atom_revisions (
    atom_id uuid NOT NULL,
    revision integer NOT NULL,
    content text NOT NULL,
    tags text[] NOT NULL,
    source text,
    importance double precision NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.atoms (
    id uuid DEFAULT public.new_atom_id() NOT NULL,
    library_id text NOT NULL,
    team_id text NOT NULL,
    content text NOT NULL,
    tags text[] NOT NULL,
    source text,
    importance double precision NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, content)) STORED NOT NULL
);
ALTER TABLE ONLY public.atoms ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE ONLY public.atoms ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY public.atoms ALTER COLUMN source SET STATISTICS 0;
ALTER TABLE ONLY public.atoms ALTER COLUMN search SET STATISTICS 0;

CREATE TABLE public.audit_events (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    key_id text,
    team_id text,
    actor text NOT NULL,
    detail jsonb NOT NULL
);

ALTER TABLE public.audit_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.changes (
    seq bigint NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tx uuid NOT NULL,
    kind text NOT NULL,
    ref text NOT NULL
);

CREATE TABLE public.encryption_key (
    fingerprint text NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    only_one boolean DEFAULT true NOT NULL,
    CONSTRAINT encryption_key_only_one_check CHECK (only_one)
);

CREATE TABLE public.feed (
    head bigint NOT NULL,
    only_one boolean DEFAULT true NOT NULL,
    CONSTRAINT feed_only_one_check CHECK (only_one)
);

CREATE TABLE public.gateway_upstreams (
    gateway_id text NOT NULL,
    name text NOT NULL,
    "position" integer NOT NULL,
    dialect text NOT NULL,
    base_url text NOT NULL,
    credential bytea
);

CREATE TABLE public.gateways (
    id text NOT NULL,
    cluster text NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    owner_uid text,
    team_id text NOT NULL,
    public_id text NOT NULL,
    routes_only boolean NOT NULL,
    routes jsonb NOT NULL,
    state text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.idempotency_keys (
    caller text NOT NULL,
    key bytea NOT NULL,
    request bytea NOT NULL,
    object_id text,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.key_libraries (
    key_id text NOT NULL,
    library_id text NOT NULL
);

CREATE TABLE public.key_versions (
    key_id text NOT NULL,
    number integer NOT NULL,
    digest bytea NOT NULL,
    prefix text NOT NULL,
    state text NOT NULL,
    source_kind text NOT NULL,
    minted_at timestamp with time zone NOT NULL,
    activated_at timestamp with time zone,
    retire_at timestamp with time zone,
    retiring_slot smallint,
    expires_at timestamp with time zone,
    rotation_trigger text,
    changed_tx uuid DEFAULT public.this_transaction() NOT NULL,
    heals text,
    heals_at timestamp with time zone,
    CONSTRAINT key_versions_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT key_versions_retiring CHECK (((state <> 'retiring'::text) OR ((retiring_slot IS NOT NULL) AND ((retiring_slot >= 1) AND (retiring_slot <= 4)) AND (retire_at IS NOT NULL))))
);

CREATE TABLE public.keys (
    id text NOT NULL,
    cluster text NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    owner_uid text,
    team_id text NOT NULL,
    source text NOT NULL,
    state text NOT NULL,
    display_name text NOT NULL,
    scopes text[] NOT NULL,
    gateway_bound boolean NOT NULL,
    gateway_id text,
    library_mode text NOT NULL,
    mcp_default_library_id text,
    allowed_models text[],
    expires_at timestamp with time zone,
    requests_per_minute integer,
    burst integer,
    generation bigint NOT NULL,
    rotation_requested_at timestamp with time zone,
    rotation_revoke_old boolean DEFAULT false NOT NULL,
    revocation_reason text,
    revoked_at timestamp with time zone,
    revoked_seq bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    spec jsonb,
    concurrent integer,
    CONSTRAINT keys_check CHECK ((gateway_bound OR (gateway_id IS NULL))),
    CONSTRAINT keys_check1 CHECK (((requests_per_minute IS NULL) = (burst IS NULL)))
);

CREATE TABLE public.libraries (
    id text NOT NULL,
    cluster text NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    team_id text NOT NULL,
    owner_uid text,
    display_name text NOT NULL,
    description text NOT NULL,
    deletion_policy text NOT NULL,
    state text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    deleted_atoms bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.team_namespaces (
    cluster text NOT NULL,
    namespace text NOT NULL,
    team_id text NOT NULL
);

CREATE TABLE public.teams (
    id text NOT NULL,
    cluster text NOT NULL,
    name text NOT NULL,
    owner_uid text,
    display_name text NOT NULL,
    state text NOT NULL,
    default_library_namespace text,
    default_library_name text,
    generation bigint NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE VIEW public.key_records AS
 SELECT v.key_id,
    v.number AS version,
    v.digest,
    v.prefix,
    v.changed_tx,
    (v.source_kind <> 'minted'::text) AS is_foreign,
    k.team_id,
    k.namespace,
    (((k.namespace = ''::text) OR COALESCE((n.team_id = k.team_id), false)) AND (t.state = 'active'::text)) AS team_holds_namespace,
    k.state,
    v.state AS version_state,
    ((EXTRACT(epoch FROM LEAST(k.expires_at, v.expires_at,
        CASE
            WHEN (v.state = 'retiring'::text) THEN v.retire_at
            ELSE NULL::timestamp with time zone
        END)) * (1000)::numeric))::double precision AS expires_ms,
    array_to_string(k.scopes, ' '::text) AS scopes,
        CASE
            WHEN k.gateway_bound THEN COALESCE(g.id, ''::text)
            ELSE NULL::text
        END AS bound_gateway_id,
        CASE
            WHEN (k.library_mode <> 'all'::text) THEN COALESCE(( SELECT string_agg(l.id, ' '::text ORDER BY l.id) AS string_agg
               FROM (public.key_libraries kl
                 JOIN public.libraries l ON ((l.id = kl.library_id)))
              WHERE ((kl.key_id = k.id) AND (l.team_id = k.team_id) AND (l.state = 'active'::text))), ''::text)
            ELSE NULL::text
        END AS library_ids,
    k.mcp_default_library_id,
    d.id AS team_default_library_id,
    k.allowed_models,
    k.requests_per_minute,
    k.burst,
    k.concurrent
   FROM (((((public.key_versions v
     JOIN public.keys k ON ((k.id = v.key_id)))
     JOIN public.teams t ON ((t.id = k.team_id)))
     LEFT JOIN public.team_namespaces n ON (((n.cluster = k.cluster) AND (n.namespace = k.namespace))))
     LEFT JOIN public.gateways g ON (((g.id = k.gateway_id) AND (g.team_id = k.team_id) AND (g.state = 'active'::text))))
     LEFT JOIN public.libraries d ON (((d.cluster = t.cluster) AND (d.namespace = t.default_library_namespace) AND (d.name = t.default_library_name) AND (d.team_id = t.id) AND (d.state = 'active'::text))));

CREATE TABLE public.key_secrets (
    key_id text NOT NULL,
    resource_version text NOT NULL,
    number integer NOT NULL,
    content text NOT NULL,
    marks text[] DEFAULT '{}'::text[] NOT NULL
);

CREATE TABLE public.key_usage (
    key_id text NOT NULL,
    version integer NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    last_address text,
    last_user_agent text
)
WITH (fillfactor='70');

CREATE TABLE public.leaders (
    cluster text NOT NULL,
    epoch bigint NOT NULL,
    term uuid DEFAULT gen_random_uuid() NOT NULL
);

CREATE TABLE public.replicas (
    id text NOT NULL,
    acked_seq bigint NOT NULL,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    usage_flushed_at timestamp with time zone,
    encryption_keys text[],
    bootstrap_beside_issuer boolean DEFAULT false NOT NULL
);

CREATE TABLE public.team_members (
    team_id text NOT NULL,
    role text NOT NULL,
    kind text NOT NULL,
    value text NOT NULL
);

CREATE TABLE public.usage_lost (
    until timestamp with time zone,
    only_one boolean DEFAULT true NOT NULL,
    CONSTRAINT usage_lost_only_one_check CHECK (only_one)
);

INSERT INTO public.feed VALUES (0, true);

INSERT INTO public.usage_lost VALUES (NULL, true);

SELECT pg_catalog.setval('public.audit_events_id_seq', 1, false);

ALTER TABLE ONLY public.atom_revisions
    ADD CONSTRAINT atom_revisions_pkey PRIMARY KEY (atom_id, revision);

ALTER TABLE ONLY public.atoms
    ADD CONSTRAINT atoms_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_tx_kind_ref_key UNIQUE (tx, kind, ref);

ALTER TABLE ONLY public.encryption_key
    ADD CONSTRAINT encryption_key_only_one_key UNIQUE (only_one);

ALTER TABLE ONLY public.feed
    ADD CONSTRAINT feed_only_one_key UNIQUE (only_one);

ALTER TABLE ONLY public.gateway_upstreams
    ADD CONSTRAINT gateway_upstreams_pkey PRIMARY KEY (gateway_id, name);

ALTER TABLE ONLY public.gateways
    ADD CONSTRAINT gateways_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways
    ADD CONSTRAINT gateways_public_id UNIQUE (public_id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller, key);

ALTER TABLE ONLY public.key_libraries
    ADD CONSTRAINT key_libraries_pkey PRIMARY KEY (key_id, library_id);

ALTER TABLE ONLY public.key_secrets
    ADD CONSTRAINT key_secrets_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY public.key_usage
    ADD CONSTRAINT key_usage_pkey PRIMARY KEY (key_id, version);

ALTER TABLE ONLY public.key_versions
    ADD CONSTRAINT key_versions_digest UNIQUE (digest);

ALTER TABLE ONLY public.key_versions
    ADD CONSTRAINT key_versions_pkey PRIMARY KEY (key_id, number);

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.leaders
    ADD CONSTRAINT leaders_pkey PRIMARY KEY (cluster);

ALTER TABLE ONLY public.libraries
    ADD CONSTRAINT libraries_cluster_namespace_name_team_id_key UNIQUE (cluster, namespace, name, team_id);

ALTER TABLE ONLY public.libraries
    ADD CONSTRAINT libraries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.replicas
    ADD CONSTRAINT replicas_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.team_members
    ADD CONSTRAINT team_members_pkey PRIMARY KEY (team_id, kind, value, role);

ALTER TABLE ONLY public.team_namespaces
    ADD CONSTRAINT team_namespaces_pkey PRIMARY KEY (cluster, namespace);

ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_cluster_name_key UNIQUE (cluster, name);

ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.usage_lost
    ADD CONSTRAINT usage_lost_only_one_key UNIQUE (only_one);

CREATE INDEX atoms_by_importance ON public.atoms USING btree (library_id, importance DESC, updated_at DESC, id DESC);

CREATE INDEX atoms_of_library ON public.atoms USING btree (library_id, created_at DESC, id DESC);

CREATE INDEX atoms_of_team ON public.atoms USING btree (team_id, created_at DESC, id DESC);

CREATE INDEX atoms_terms ON public.atoms USING gin (((search || public.atom_terms(team_id, library_id, tags)))) WITH (gin_pending_list_limit='256');
ALTER INDEX public.atoms_terms ALTER COLUMN 1 SET STATISTICS 0;

CREATE INDEX audit_events_by_time ON public.audit_events USING btree (at);

CREATE INDEX audit_events_of_key ON public.audit_events USING btree (key_id, id);

CREATE INDEX gateways_of_team ON public.gateways USING btree (team_id);

CREATE UNIQUE INDEX gateways_owner ON public.gateways USING btree (cluster, owner_uid) WHERE (state = 'active'::text);

CREATE INDEX idempotency_keys_by_time ON public.idempotency_keys USING btree (made_at);

CREATE INDEX key_libraries_of_library ON public.key_libraries USING btree (library_id);

CREATE INDEX key_versions_by_prefix ON public.key_versions USING btree (prefix);

CREATE UNIQUE INDEX key_versions_four_retiring ON public.key_versions USING btree (key_id, retiring_slot) WHERE (state = 'retiring'::text);

CREATE UNIQUE INDEX key_versions_one_active ON public.key_versions USING btree (key_id) WHERE (state = 'active'::text);

CREATE INDEX keys_by_owner ON public.keys USING btree (cluster, owner_uid, created_at DESC);

CREATE UNIQUE INDEX keys_of_api_by_name ON public.keys USING btree (team_id, namespace, name) WHERE ((cluster = 'api'::text) AND (state <> 'revoked'::text));

CREATE INDEX keys_of_gateway ON public.keys USING btree (gateway_id) WHERE (gateway_id IS NOT NULL);

CREATE INDEX keys_of_team ON public.keys USING btree (team_id, id);

CREATE UNIQUE INDEX keys_owner ON public.keys USING btree (cluster, owner_uid) WHERE (state <> 'revoked'::text);

CREATE INDEX libraries_of_team ON public.libraries USING btree (team_id);

CREATE INDEX team_members_by_value ON public.team_members USING btree (kind, value);

CREATE INDEX team_namespaces_of_team ON public.team_namespaces USING btree (team_id);

CREATE TRIGGER atoms_keep_revision BEFORE UPDATE ON public.atoms FOR EACH ROW WHEN ((old.revision IS DISTINCT FROM new.revision)) EXECUTE FUNCTION public.keep_atom_revision();

CREATE CONSTRAINT TRIGGER gateway_upstreams_feed AFTER INSERT OR DELETE ON public.gateway_upstreams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('gateway', 'gateway_id');

CREATE CONSTRAINT TRIGGER gateway_upstreams_feed_update AFTER UPDATE OF gateway_id, name, "position", dialect, base_url, credential ON public.gateway_upstreams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((((((old.gateway_id IS DISTINCT FROM new.gateway_id) OR (old.name IS DISTINCT FROM new.name)) OR (old."position" IS DISTINCT FROM new."position")) OR (old.dialect IS DISTINCT FROM new.dialect)) OR (old.base_url IS DISTINCT FROM new.base_url)) OR (old.credential IS DISTINCT FROM new.credential))) EXECUTE FUNCTION public.record_change('gateway', 'gateway_id');

CREATE CONSTRAINT TRIGGER gateways_feed AFTER INSERT OR DELETE ON public.gateways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('gateway', 'id');

CREATE CONSTRAINT TRIGGER gateways_feed_update AFTER UPDATE OF cluster, namespace, team_id, public_id, routes_only, routes, state ON public.gateways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((((((old.cluster IS DISTINCT FROM new.cluster) OR (old.namespace IS DISTINCT FROM new.namespace)) OR (old.team_id IS DISTINCT FROM new.team_id)) OR (old.public_id IS DISTINCT FROM new.public_id)) OR (old.routes_only IS DISTINCT FROM new.routes_only)) OR (old.routes IS DISTINCT FROM new.routes)) OR (old.state IS DISTINCT FROM new.state))) EXECUTE FUNCTION public.record_change('gateway', 'id');

CREATE CONSTRAINT TRIGGER key_libraries_feed AFTER INSERT OR DELETE ON public.key_libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('key', 'key_id');

CREATE CONSTRAINT TRIGGER key_libraries_feed_update AFTER UPDATE OF key_id, library_id ON public.key_libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.key_id IS DISTINCT FROM new.key_id) OR (old.library_id IS DISTINCT FROM new.library_id))) EXECUTE FUNCTION public.record_change('key', 'key_id');

CREATE TRIGGER key_versions_end_is_final BEFORE UPDATE OF state ON public.key_versions FOR EACH ROW WHEN (((old.state = ANY (ARRAY['retired'::text, 'voided'::text, 'revoked'::text])) AND (new.state <> old.state))) EXECUTE FUNCTION public.refuse_revival();

CREATE CONSTRAINT TRIGGER key_versions_feed AFTER INSERT OR DELETE ON public.key_versions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('key', 'key_id');

CREATE CONSTRAINT TRIGGER key_versions_feed_update AFTER UPDATE OF key_id, number, digest, prefix, state, source_kind, retire_at, expires_at ON public.key_versions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((((((((old.key_id IS DISTINCT FROM new.key_id) OR (old.number IS DISTINCT FROM new.number)) OR (old.digest IS DISTINCT FROM new.digest)) OR (old.prefix IS DISTINCT FROM new.prefix)) OR (old.state IS DISTINCT FROM new.state)) OR (old.source_kind IS DISTINCT FROM new.source_kind)) OR (old.retire_at IS DISTINCT FROM new.retire_at)) OR (old.expires_at IS DISTINCT FROM new.expires_at))) EXECUTE FUNCTION public.record_change('key', 'key_id');

CREATE TRIGGER key_versions_stamp BEFORE UPDATE OF state ON public.key_versions FOR EACH ROW WHEN ((old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION public.stamp_state_change();

CREATE TRIGGER keys_end_is_final BEFORE UPDATE OF state ON public.keys FOR EACH ROW WHEN (((old.state = 'revoked'::text) AND (new.state <> old.state))) EXECUTE FUNCTION public.refuse_revival();

CREATE CONSTRAINT TRIGGER keys_feed AFTER INSERT OR DELETE ON public.keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('key', 'id');

CREATE CONSTRAINT TRIGGER keys_feed_update AFTER UPDATE OF cluster, namespace, team_id, state, scopes, gateway_bound, gateway_id, library_mode, mcp_default_library_id, allowed_models, expires_at, requests_per_minute, burst, concurrent, rotation_requested_at ON public.keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((((((((((((((old.cluster IS DISTINCT FROM new.cluster) OR (old.namespace IS DISTINCT FROM new.namespace)) OR (old.team_id IS DISTINCT FROM new.team_id)) OR (old.state IS DISTINCT FROM new.state)) OR (old.scopes IS DISTINCT FROM new.scopes)) OR (old.gateway_bound IS DISTINCT FROM new.gateway_bound)) OR (old.gateway_id IS DISTINCT FROM new.gateway_id)) OR (old.library_mode IS DISTINCT FROM new.library_mode)) OR (old.mcp_default_library_id IS DISTINCT FROM new.mcp_default_library_id)) OR (old.allowed_models IS DISTINCT FROM new.allowed_models)) OR (old.expires_at IS DISTINCT FROM new.expires_at)) OR (old.requests_per_minute IS DISTINCT FROM new.requests_per_minute)) OR (old.burst IS DISTINCT FROM new.burst)) OR (old.concurrent IS DISTINCT FROM new.concurrent)) OR (old.rotation_requested_at IS DISTINCT FROM new.rotation_requested_at))) EXECUTE FUNCTION public.record_change('key', 'id');

CREATE CONSTRAINT TRIGGER keys_revocation AFTER UPDATE OF state ON public.keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.state = 'revoked'::text) AND (old.state <> 'revoked'::text))) EXECUTE FUNCTION public.record_revocation();

CREATE CONSTRAINT TRIGGER libraries_feed AFTER INSERT OR DELETE ON public.libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('library', 'id');

CREATE CONSTRAINT TRIGGER libraries_feed_update AFTER UPDATE OF cluster, namespace, name, team_id, state ON public.libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((((old.cluster IS DISTINCT FROM new.cluster) OR (old.namespace IS DISTINCT FROM new.namespace)) OR (old.name IS DISTINCT FROM new.name)) OR (old.team_id IS DISTINCT FROM new.team_id)) OR (old.state IS DISTINCT FROM new.state))) EXECUTE FUNCTION public.record_change('library', 'id');

CREATE CONSTRAINT TRIGGER team_members_feed AFTER INSERT OR DELETE ON public.team_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('team', 'team_id');

CREATE CONSTRAINT TRIGGER team_members_feed_update AFTER UPDATE OF team_id, role, kind, value ON public.team_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((((old.team_id IS DISTINCT FROM new.team_id) OR (old.role IS DISTINCT FROM new.role)) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.value IS DISTINCT FROM new.value))) EXECUTE FUNCTION public.record_change('team', 'team_id');

CREATE CONSTRAINT TRIGGER team_namespaces_feed AFTER INSERT OR DELETE ON public.team_namespaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('team', 'team_id');

CREATE CONSTRAINT TRIGGER team_namespaces_feed_update AFTER UPDATE OF cluster, namespace, team_id ON public.team_namespaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((old.cluster IS DISTINCT FROM new.cluster) OR (old.namespace IS DISTINCT FROM new.namespace)) OR (old.team_id IS DISTINCT FROM new.team_id))) EXECUTE FUNCTION public.record_change('team', 'team_id');

CREATE CONSTRAINT TRIGGER teams_feed AFTER INSERT OR DELETE ON public.teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.record_change('team', 'id');

CREATE CONSTRAINT TRIGGER teams_feed_update AFTER UPDATE OF cluster, name, state, default_library_namespace, default_library_name ON public.teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((((old.cluster IS DISTINCT FROM new.cluster) OR (old.name IS DISTINCT FROM new.name)) OR (old.state IS DISTINCT FROM new.state)) OR (old.default_library_namespace IS DISTINCT FROM new.default_library_namespace)) OR (old.default_library_name IS DISTINCT FROM new.default_library_name))) EXECUTE FUNCTION public.record_change('team', 'id');

ALTER TABLE ONLY public.atom_revisions
    ADD CONSTRAINT atom_revisions_atom_id_fkey FOREIGN KEY (atom_id) REFERENCES public.atoms(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.atoms
    ADD CONSTRAINT atoms_library_id_fkey FOREIGN KEY (library_id) REFERENCES public.libraries(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.gateway_upstreams
    ADD CONSTRAINT gateway_upstreams_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES public.gateways(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.gateways
    ADD CONSTRAINT gateways_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id);

ALTER TABLE ONLY public.key_libraries
    ADD CONSTRAINT key_libraries_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.keys(id);

ALTER TABLE ONLY public.key_secrets
    ADD CONSTRAINT key_secrets_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.keys(id);

ALTER TABLE ONLY public.key_versions
    ADD CONSTRAINT key_versions_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.keys(id);

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id);

ALTER TABLE ONLY public.libraries
    ADD CONSTRAINT libraries_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id);

ALTER TABLE ONLY public.team_members
    ADD CONSTRAINT team_members_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id);

ALTER TABLE ONLY public.team_namespaces
    ADD CONSTRAINT team_namespaces_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id);
