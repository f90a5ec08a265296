package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"keyplane.dev/terraform-provider-keyplane/internal/api"
	"keyplane.dev/terraform-provider-keyplane/internal/secret"
)

type platformKey struct{ connected }

func newPlatformKey() resource.Resource { return &platformKey{} }

var (
	_ resource.ResourceWithConfigure      = (*platformKey)(nil)
	_ resource.ResourceWithImportState    = (*platformKey)(nil)
	_ resource.ResourceWithModifyPlan     = (*platformKey)(nil)
	_ resource.ResourceWithValidateConfig = (*platformKey)(nil)
)

// platformKeyModel is a key in a state and a plan.
type platformKeyModel struct {
	ID        types.String `tfsdk:"id"`
	Name      string       `tfsdk:"name"`
	Team      string       `tfsdk:"team"`
	Namespace *string      `tfsdk:"namespace"`
	spec
	Secret          types.String `tfsdk:"secret_wo"`
	SecretVersion   types.Int64  `tfsdk:"secret_wo_version"`
	Overlap         *string      `tfsdk:"overlap"`
	Reason          *string      `tfsdk:"reason"`
	TeamID          types.String `tfsdk:"team_id"`
	Prefix          types.String `tfsdk:"prefix"`
	Version         types.Int64  `tfsdk:"version"`
	EffectiveScopes types.Set    `tfsdk:"effective_scopes"`
	ExpiresTime     types.String `tfsdk:"expires_time"`
}

const (
	// The key of the private state under which a plan remembers what it has read: a change is of that, or of nothing.
	etagKey = "etag"
	// The key of the private state that has the name of the key's team, also where the configuration has its id.
	teamKey = "team"
)

type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func (*platformKey) Metadata(_ context.Context, request resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_platform_key"
}

func (*platformKey) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = platformKeySchema()
}

func (key *platformKey) Configure(_ context.Context, request resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	key.connect(request.ProviderData)
}

// ValidateConfig refuses what would do another thing than it says; the rest is the server's to refuse.
func (*platformKey) ValidateConfig(ctx context.Context, request resource.ValidateConfigRequest, response *resource.ValidateConfigResponse) {
	var state, text types.String
	var version types.Int64
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("state"), &state)...)
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("secret_wo"), &text)...)
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("secret_wo_version"), &version)...)
	if !state.IsNull() && !state.IsUnknown() && state.ValueString() != "Active" && state.ValueString() != "Suspended" {
		response.Diagnostics.AddAttributeError(path.Root("state"), "A state that a configuration does not give",
			"It is Active or Suspended. To revoke a key, destroy the resource.")
	}
	if text.IsNull() && !version.IsNull() {
		response.Diagnostics.AddAttributeError(path.Root("secret_wo_version"), "There is no secret to take",
			"Give secret_wo too, or neither.")
	}
	if !text.IsNull() && version.IsNull() {
		response.Diagnostics.AddAttributeError(path.Root("secret_wo"), "It is not said when the secret is to be taken",
			"Write secret_wo_version = 1 beside it, and another number for each new secret.")
	}
}

// ModifyPlan keeps what a change without a new secret does not change, for those who look at it.
func (*platformKey) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest, response *resource.ModifyPlanResponse) {
	if request.State.Raw.IsNull() || request.Plan.Raw.IsNull() {
		return
	}
	var was, is types.Int64
	response.Diagnostics.Append(request.State.GetAttribute(ctx, path.Root("secret_wo_version"), &was)...)
	response.Diagnostics.Append(request.Plan.GetAttribute(ctx, path.Root("secret_wo_version"), &is)...)
	if response.Diagnostics.HasError() || !was.Equal(is) {
		return
	}
	if !was.IsNull() && isAnother(ctx, request, &response.Diagnostics) {
		response.Diagnostics.AddAttributeError(path.Root("secret_wo_version"), "Another key needs another secret",
			"The key is to be replaced, and a secret is one key's for ever. "+anotherSecret)
		return
	}
	var prefix types.String
	var version types.Int64
	response.Diagnostics.Append(request.State.GetAttribute(ctx, path.Root("prefix"), &prefix)...)
	response.Diagnostics.Append(request.State.GetAttribute(ctx, path.Root("version"), &version)...)
	response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("prefix"), prefix)...)
	response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("version"), version)...)
}

// isAnother says whether a plan replaces a key, since it names another.
func isAnother(ctx context.Context, request resource.ModifyPlanRequest, diagnostics *diag.Diagnostics) bool {
	for _, name := range []string{"name", "team", "namespace"} {
		var was, is types.String
		diagnostics.Append(request.State.GetAttribute(ctx, path.Root(name), &was)...)
		diagnostics.Append(request.Plan.GetAttribute(ctx, path.Root(name), &is)...)
		if !was.Equal(is) && (name != "team" || !isStillTeam(ctx, request.State, request.Private, is, diagnostics)) {
			return true
		}
	}
	return false
}

// isStillTeam says whether a plan names the same team as the state, now by its id or by its name.
func isStillTeam(ctx context.Context, state tfsdk.State, private private, planned types.String, diagnostics *diag.Diagnostics) bool {
	var id types.String
	diagnostics.Append(state.GetAttribute(ctx, path.Root("team_id"), &id)...)
	text, unread := private.GetKey(ctx, teamKey)
	diagnostics.Append(unread...)
	var name string
	return planned.Equal(id) || json.Unmarshal(text, &name) == nil && planned.ValueString() == name
}

func (key *platformKey) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var model platformKeyModel
	response.Diagnostics.Append(request.Plan.Get(ctx, &model)...)
	text := givenSecret(ctx, request.Config.GetAttribute, &response.Diagnostics)
	if response.Diagnostics.HasError() || !key.ready(&response.Diagnostics) {
		return
	}
	minted := text
	if minted == "" {
		minted = secret.Mint()
	}
	object, err := key.client.CreateKey(ctx, api.NewKey{
		Name:      model.Name,
		Team:      model.Team,
		Namespace: textOf(model.Namespace),
		Spec:      model.spec,
		Source:    sourceOf(minted),
		Reason:    textOf(model.Reason),
	})
	if err != nil {
		if object, err = key.takeUp(ctx, model, text, err); err == nil {
			response.Diagnostics.AddWarning(fmt.Sprintf("The key %q was there already", model.Name),
				"An apply that was interrupted has made it with this very secret: it is taken into the state.")
		}
	}
	if err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("The key %q was not made", model.Name), explainSecret(err))
		return
	}
	response.Diagnostics.Append(model.show(ctx, object)...)
	response.Diagnostics.Append(remember(ctx, response.Private, object)...)
	response.Diagnostics.Append(response.State.Set(ctx, &model)...)
}

// takeUp finds the key that an apply made which was interrupted before its state was written: one of this name whose
// version in use has this very secret, as its prefix says of one that Keyplane has made. Of any other key the refusal
// stays.
func (key *platformKey) takeUp(ctx context.Context, model platformKeyModel, text string, refused error) (*api.Object, error) {
	var refusal *api.Refusal
	if !secret.IsMinted(text) || !errors.As(refused, &refusal) || refusal.Code != "exists" || refusal.ID == "" {
		return nil, refused
	}
	object, err := key.client.Get(ctx, api.Keys, refusal.ID)
	if err != nil || goneBecause(object) != "" || object.DeclaredIn != nil || !isCurrent(object, text) {
		return nil, refused
	}
	now, err := parseSpec(object.Spec)
	if err != nil || now.equals(model.spec, object.Name) {
		return object, err
	}
	object, err = key.change(ctx, object.ID, object.ETag, model)
	if err == nil && !isCurrent(object, text) {
		return nil, refused
	}
	return object, err
}

// explainSecret says what to do about a secret that another key has, or had.
func explainSecret(err error) error {
	var refusal *api.Refusal
	if errors.As(err, &refusal) && refusal.Code == "conflict" {
		return fmt.Errorf("%s\n%s", refusal.Detail, anotherSecret)
	}
	return err
}

const anotherSecret = "Have the store take a new secret: write another number as secret_wo_version, and as the store's own version."

// isCurrent says whether the version in use is of this secret, as far as a prefix tells: of two versions that begin alike
// it tells nothing.
func isCurrent(object *api.Object, text string) bool {
	current, found := object.Current()
	alike := 0
	for _, version := range object.Versions {
		if version.Prefix == secret.Prefix(text) {
			alike++
		}
	}
	return found && current.State == "active" && current.Prefix == secret.Prefix(text) && alike == 1
}

func (key *platformKey) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	var model platformKeyModel
	response.Diagnostics.Append(request.State.Get(ctx, &model)...)
	if response.Diagnostics.HasError() || !key.ready(&response.Diagnostics) {
		return
	}
	object, err := key.client.Get(ctx, api.Keys, model.ID.ValueString())
	if err == nil && object == nil {
		err = key.client.EnsureGone(ctx, model.TeamID.ValueString())
	}
	if err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("The key %q cannot be read", model.Name), err)
		return
	}
	if gone := goneBecause(object); gone != "" {
		response.Diagnostics.AddWarning(fmt.Sprintf("The key %q is gone", nameOf(model)),
			gone+" It is taken out of the state, and an apply makes a new one of its name.")
		response.State.RemoveResource(ctx)
		return
	}
	if object.DeclaredIn != nil {
		fail(&response.Diagnostics, fmt.Sprintf("The key %q is declared elsewhere", object.Name),
			&api.Refusal{Code: "managed", Detail: "A manifest declares it: change it there, or read it with the data source keyplane_platform_key."})
		return
	}
	now, err := parseSpec(object.Spec)
	if err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("The key %q cannot be read", object.Name), err)
		return
	}
	if object.State == "expired" {
		response.Diagnostics.AddWarning(fmt.Sprintf("The key %q has expired", object.Name),
			fmt.Sprintf("It has been refused since %s. With expires_after it needs a new version, by another number as secret_wo_version; with expires_at a later time.", textOf(object.ExpiresAt)))
	}
	model.spec = asWritten(model.spec, now, object.Name)
	response.Diagnostics.Append(model.show(ctx, object)...)
	response.Diagnostics.Append(remember(ctx, response.Private, object)...)
	response.Diagnostics.Append(response.State.Set(ctx, &model)...)
}

func nameOf(model platformKeyModel) string {
	if model.Name == "" {
		return model.ID.ValueString()
	}
	return model.Name
}

// goneBecause says why a key is gone: a revoked key can still be seen, and is gone all the same.
func goneBecause(object *api.Object) string {
	switch {
	case object == nil:
		return "It is not there any more."
	case object.Revocation != nil:
		return fmt.Sprintf("It was revoked at %s (%s).", object.Revocation.At, object.Revocation.Reason)
	default:
		return ""
	}
}

func (key *platformKey) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var model, state platformKeyModel
	response.Diagnostics.Append(request.Plan.Get(ctx, &model)...)
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	text := givenSecret(ctx, request.Config.GetAttribute, &response.Diagnostics)
	etag, diagnostics := request.Private.GetKey(ctx, etagKey)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() || !key.ready(&response.Diagnostics) {
		return
	}
	object, err := key.replaceSpec(ctx, state, model, etag)
	if err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("The key %q was not changed", model.Name), err)
		return
	}
	isRenewed := !model.SecretVersion.Equal(state.SecretVersion) && text != ""
	wanted := model
	response.Diagnostics.Append(model.show(ctx, object)...)
	if isRenewed {
		// Until it has its new version.
		model.SecretVersion = state.SecretVersion
	} else if !wanted.Prefix.IsUnknown() {
		// As the plan has promised. A version that another client has made meanwhile is the next refresh's to see.
		model.Prefix, model.Version = wanted.Prefix, wanted.Version
	}
	response.Diagnostics.Append(remember(ctx, response.Private, object)...)
	response.Diagnostics.Append(response.State.Set(ctx, &model)...)
	if !isRenewed || response.Diagnostics.HasError() {
		return
	}
	object, err = key.ensureVersion(ctx, object, text, wanted)
	if err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("The key %q has no new version", model.Name), explainSecret(err))
		return
	}
	response.Diagnostics.Append(wanted.show(ctx, object)...)
	response.Diagnostics.Append(response.State.Set(ctx, &wanted)...)
}

// replaceSpec gives a key the spec of its plan, where it is still what the plan has read.
func (key *platformKey) replaceSpec(ctx context.Context, state, model platformKeyModel, remembered []byte) (*api.Object, error) {
	if model.equals(state.spec, model.Name) {
		object, err := key.client.Get(ctx, api.Keys, state.ID.ValueString())
		if gone := goneBecause(object); err == nil && gone != "" {
			return nil, errors.New(gone + " Plan again, and apply that.")
		}
		return object, err
	}
	var etag string
	if err := json.Unmarshal(remembered, &etag); err != nil {
		return nil, errors.New("The plan remembers no state of the key: plan again with a refresh, and apply that.")
	}
	return key.change(ctx, state.ID.ValueString(), etag, model)
}

// change sends a spec under an entity tag. Where the answer to it was lost, the server has another tag by the time that it
// is sent again, and refuses: a key that is as it was sent is changed.
func (key *platformKey) change(ctx context.Context, id, etag string, model platformKeyModel) (*api.Object, error) {
	object, err := key.client.ReplaceKey(ctx, id, etag, api.Replacement{Spec: model.spec, Reason: textOf(model.Reason)})
	var refusal *api.Refusal
	if !errors.As(err, &refusal) || refusal.Code != "precondition_failed" {
		return object, err
	}
	found, unread := key.client.Get(ctx, api.Keys, id)
	if unread != nil || goneBecause(found) != "" || found.DeclaredIn != nil {
		return nil, err
	}
	if now, unread := parseSpec(found.Spec); unread != nil || !now.equals(model.spec, found.Name) {
		return nil, err
	}
	return found, nil
}

// ensureVersion makes a version with this secret, where the version in use is not of it already. Of a secret that Keyplane
// has not made the server says so, by its hash.
func (key *platformKey) ensureVersion(ctx context.Context, object *api.Object, text string, model platformKeyModel) (*api.Object, error) {
	hasIt := isCurrent(object, text)
	if hasIt && secret.IsMinted(text) {
		return object, nil
	}
	version := api.NewVersion{Source: sourceOf(text), Overlap: textOf(model.Overlap), Reason: textOf(model.Reason)}
	made, err := key.client.AddVersion(ctx, object.ID, version)
	var refusal *api.Refusal
	if hasIt && errors.As(err, &refusal) && refusal.Code == "conflict" {
		return object, nil
	}
	return made, err
}

func (key *platformKey) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var model platformKeyModel
	response.Diagnostics.Append(request.State.Get(ctx, &model)...)
	if response.Diagnostics.HasError() || !key.ready(&response.Diagnostics) {
		return
	}
	if err := key.client.DeleteKey(ctx, model.ID.ValueString(), model.TeamID.ValueString(), textOf(model.Reason)); err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("The key %q was not revoked", model.Name), err)
	}
}

// ImportState takes TEAM/NAME, TEAM/NAMESPACE/NAME, or an id.
func (key *platformKey) ImportState(ctx context.Context, request resource.ImportStateRequest, response *resource.ImportStateResponse) {
	if !key.ready(&response.Diagnostics) {
		return
	}
	id := request.ID
	if parts := strings.Split(id, "/"); len(parts) > 1 {
		namespace := ""
		if len(parts) == 3 {
			namespace = parts[1]
		}
		object, err := key.client.Find(ctx, api.Keys, parts[0], namespace, parts[len(parts)-1])
		if err != nil {
			fail(&response.Diagnostics, fmt.Sprintf("The key %s cannot be imported", id), err)
			return
		}
		id = object.ID
	}
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("id"), id)...)
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("name"), "")...)
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("team"), "")...)
}

// show takes what is known of a key besides what was asked for.
func (model *platformKeyModel) show(ctx context.Context, object *api.Object) diag.Diagnostics {
	model.ID, model.TeamID = types.StringValue(object.ID), types.StringValue(object.TeamID)
	model.Name = object.Name
	// A configuration may write its id.
	if model.Team != object.TeamID {
		model.Team = object.Team
	}
	if object.Namespace != "" {
		model.Namespace = &object.Namespace
	}
	current, _ := object.Current()
	model.Prefix, model.Version = types.StringValue(current.Prefix), types.Int64Value(current.Number)
	model.ExpiresTime = stringOf(object.ExpiresAt)
	model.Secret = types.StringNull()
	var diagnostics diag.Diagnostics
	model.EffectiveScopes, diagnostics = types.SetValueFrom(ctx, types.StringType, object.Scopes)
	return diagnostics
}

func remember(ctx context.Context, private private, object *api.Object) diag.Diagnostics {
	var diagnostics diag.Diagnostics
	for key, value := range map[string]string{etagKey: object.ETag, teamKey: object.Team} {
		text, err := json.Marshal(value)
		if err != nil {
			diagnostics.AddError("What was read of the key cannot be kept", err.Error())
			continue
		}
		diagnostics.Append(private.SetKey(ctx, key, text)...)
	}
	return diagnostics
}

// givenSecret is the secret of the configuration, the one place that has it; empty where none is given.
func givenSecret(ctx context.Context, attribute func(context.Context, path.Path, any) diag.Diagnostics, diagnostics *diag.Diagnostics) string {
	var text types.String
	diagnostics.Append(attribute(ctx, path.Root("secret_wo"), &text)...)
	if !text.IsNull() && !secret.IsSecret(text.ValueString()) {
		diagnostics.AddAttributeError(path.Root("secret_wo"), "It is no secret of a key",
			"It must be inf_ and at least 32 more characters, without spaces, quotes and commas: see that it is what the store holds.")
	}
	return text.ValueString()
}

func sourceOf(text string) api.Source {
	return api.Source{Hash: api.SourceHash{SHA256: secret.Hash(text), Prefix: secret.Prefix(text)}}
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
