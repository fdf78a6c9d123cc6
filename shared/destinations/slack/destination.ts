import { writeValue } from '../../routing/mapping/template.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { matching, optionalBaseUrl, optionalSecret, optionalText, readWebUrl, SettingError } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { templateSetting, templateSubject } from '../sdk/templates.ts';

const standardUrl = 'https://slack.com';
const standardText = '*{{event.event}}* {{visitor.email}}\n{{event.event_properties}}';
/** Slack truncates longer texts, even within a character, so they are shortened before they are sent. */
const textCharactersMax = 40_000;

const settings = {
  webhookUrl: optionalSecret(
    {
      label: 'Incoming webhook URL',
      placeholder: 'https://hooks.slack.com/services/T…/B…/…',
      sublabel: 'Posts to the channel it was created for. Alternatively, enter a bot token and a channel.',
    },
    readWebUrl,
  ),
  botToken: optionalSecret(
    {
      label: 'Bot token',
      placeholder: 'xoxb-…',
      sublabel: 'Needs the scope chat:write, and its app must be a member of the channel.',
      example: 'xoxb-example',
    },
    matching(/^[\x21-\x7e]+$/, 'must be text without spaces or line breaks'),
  ),
  channel: optionalText(
    {
      label: 'Channel',
      placeholder: 'C0123456789',
      sublabel: 'The channel ID, used with a bot token.',
      example: 'C0123456789',
    },
    matching(/^[#@]?[\w.-]{1,80}$/, 'must be a channel ID or name'),
  ),
  text: optionalText(
    {
      label: 'Text',
      placeholder: standardText,
      sublabel: 'Slack markup with placeholders. Values are escaped: no event can mention a person or a channel.',
    },
    templateSetting,
  ),
  baseUrl: optionalBaseUrl(standardUrl),
};

/**
 * Slack: every event is one message, sent through an incoming webhook or by a bot.
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export const slack = defineDestination({
  id: 'Slack',
  label: 'Slack',
  settings,
  exampleSuccess: { status: 200, body: '{"ok":true,"channel":"C0123456789","ts":"1503435956.000247"}' },
  facts: {
    sends: 'What the template produces from an event, as a message',
    limits: { events: 1, rate: 'one message per second to a channel' },
    deduplicatesBy: undefined,
    errors: 'API: a code in a 200; webhook: a status and a code',
    sources: [
      'https://docs.slack.dev/reference/methods/chat.postMessage',
      'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
      'https://docs.slack.dev/apis/web-api/rate-limits',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    skips: { identify: 'messages are about actions; to send an identify, give it a name in a mapping' },
  },
  loadPlatform: async () => (await import('./platform.ts')).slackPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const template = given.text ?? templateSetting(standardText, 'text');
  const target = targetOf(given);
  return {
    batchEventsMax: 1,
    requestEveryMs: 1_000,
    accepts: acceptsCustomerEvents,
    buildRequest(events) {
      const text = template
        .renderText(templateSubject(onlyEvent(events)), escaped)
        .trim()
        .toWellFormed();
      if (text === '') throw new UnfitEventError('the message would be empty');
      return postJson({ ...target, body: { ...target.body, text: shortened(text) }, events });
    },
    readAnswer,
  };
}

type Target = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
};

function targetOf({ webhookUrl, botToken, channel, baseUrl }: SettingsOf<typeof settings>): Target {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  if (webhookUrl !== undefined) {
    if (botToken !== undefined || channel !== undefined) {
      throw new SettingError(
        'webhookUrl',
        'must be empty if there is a bot token or a channel: a webhook has its own channel',
      );
    }
    const { pathname, search } = new URL(webhookUrl);
    return { url: baseUrl === undefined ? webhookUrl : `${baseUrl}${pathname}${search}`, headers, body: {} };
  }
  if (botToken === undefined) throw new SettingError('webhookUrl', 'is required, or a bot token with a channel');
  if (channel === undefined) throw new SettingError('channel', 'is required with a bot token');
  return {
    url: `${baseUrl ?? standardUrl}/api/chat.postMessage`,
    headers: { ...headers, authorization: `Bearer ${botToken}` },
    body: { channel },
  };
}

const markup: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** An event's value with its markup escaped, because `<!channel>` would notify everyone. */
function escaped(value: unknown): string {
  return writeValue(value).replace(/[&<>]/g, (char) => markup[char] ?? char);
}

/** The text, cut to Slack's maximum without splitting a character or an entity. */
function shortened(text: string): string {
  if (text.length <= textCharactersMax) return text;
  return `${text.slice(0, textCharactersMax - 1).replace(/[\ud800-\udbff]$|&[a-z]{0,3}$/, '')}…`;
}

/** Codes of problems with the token, channel or workspace, which are faults of the destination, not of an event. */
const ofAccess: ReadonlySet<string> = new Set([
  'access_denied',
  'account_inactive',
  'action_prohibited',
  'as_user_not_supported',
  'channel_is_archived',
  'channel_not_found',
  'ekm_access_denied',
  'enterprise_is_restricted',
  'invalid_auth',
  'invalid_token',
  'is_archived',
  'is_inactive',
  'missing_scope',
  'no_active_hooks',
  'no_permission',
  'no_service',
  'no_service_id',
  'no_team',
  'not_allowed_token_type',
  'not_authed',
  'not_in_channel',
  'org_login_required',
  'posting_to_general_channel_denied',
  'restricted_action',
  'restricted_action_non_threadable_channel',
  'restricted_action_read_only_channel',
  'restricted_action_thread_locked',
  'restricted_action_thread_only_channel',
  'team_access_not_granted',
  'team_disabled',
  'team_not_found',
  'token_expired',
  'token_revoked',
  'two_factor_setup_required',
  'user_not_found',
]);

const throttling: ReadonlySet<string> = new Set(['message_limit_exceeded', 'rate_limited', 'ratelimited']);

const passing: ReadonlySet<string> = new Set([
  'accesslimited',
  'fatal_error',
  'internal_error',
  'request_timeout',
  'rollup_error',
  'service_unavailable',
  'team_added_to_org',
]);

/**
 * The API responds with 200 and an error code in JSON; a webhook responds with another status and the code as text.
 * Undefined if the status alone decides, as for a 429, which has a Retry-After.
 */
function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  const { status, body } = answer;
  if (status === 429 || status >= 500) return undefined;
  const said = jsonAnswer(answer);
  if (status === 200 && (said?.['ok'] === true || body.trim() === 'ok'))
    return events.map(() => ({ kind: 'delivered' }));
  const code = typeof said?.['error'] === 'string' ? said['error'] : body.trim();
  const outcome = outcomeOf(code, status);
  return outcome === undefined ? undefined : events.map(() => outcome);
}

function outcomeOf(code: string, status: number): Outcome | undefined {
  if (throttling.has(code)) return { kind: 'retry', reason: code, isThrottled: true };
  if (ofAccess.has(code)) return { kind: 'retry', reason: code, refusesAccess: true };
  if (passing.has(code)) return { kind: 'retry', reason: code };
  if (status !== 200) return undefined;
  return /^[a-z_]{1,64}$/.test(code)
    ? { kind: 'reject', reason: code }
    : { kind: 'retry', reason: 'the response has no result for the message' };
}
