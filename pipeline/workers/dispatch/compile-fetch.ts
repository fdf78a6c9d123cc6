import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import { accessTokenContext, SecretError } from '../../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../../shared/contracts/config/secrets.ts';
import type { OfferedDestination } from '../../../shared/destinations/common-settings.ts';
import { createSecretMasker, secretsInRequest } from '../../../shared/destinations/mask-secrets.ts';
import { jsonAnswer } from '../../../shared/destinations/sdk/answers.ts';
import { onlyEvent, UnfitEventError } from '../../../shared/destinations/sdk/destination.ts';
import type { OutboundAnswer, Outcome } from '../../../shared/destinations/sdk/destination.ts';
import { deliveryHeaders } from '../../../shared/destinations/sdk/http.ts';
import type { DispatchPlan } from '../../../shared/routing/dispatch-plan.ts';
import type { PublishedDestination } from '../../../shared/routing/published-destinations.ts';
import type { FetchAccess, NoticeFetch } from '../../../shared/sources/sdk/notice-fetch.ts';
import { findSourceKind } from '../../../shared/sources/registry.ts';
import type { ProviderEvent } from '../../../shared/sources/sdk/provider-event.ts';
import type { DispatchTarget } from './admission/dispatch-target.ts';
import type { FetchUrls } from './fetch-settings.ts';

/** Compiles a source whose notices are followed: which events its dispatcher gets, and the request for each. */
export function compileFetch(
  config: LiveConfig,
  destination: PublishedDestination,
  secrets: SecretBox,
  urls: FetchUrls,
): DispatchTarget {
  const { id, accountId, type, unreadable } = destination;
  const fetch = findSourceKind(type)?.fetch;
  const { versionNumber, publishedAt } = config;
  const described = { destination, versionNumber, publishedAtMs: Date.parse(publishedAt), fetch };
  const sealed = config.collections.sources.find((source) => source.id === id)?.accessToken;
  if (fetch === undefined || unreadable !== undefined || typeof sealed !== 'string') {
    const problem = `source ${unreadable ?? 'accessToken'}: cannot be read by this build`;
    return { ...described, plan: undefined, prepared: undefined, problem };
  }
  try {
    const token = secrets.open(sealed, accessTokenContext(accountId, id));
    const access = { url: urls[type] ?? fetch.url, token };
    return { ...described, plan: planOf(destination), prepared: prepareFetch(fetch, access), problem: undefined };
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    return { ...described, plan: undefined, prepared: undefined, problem: error.message };
  }
}

/**
 * The account's rules do not apply: fetching the content of a source's own event does not send the event to a
 * destination.
 */
function planOf(destination: PublishedDestination): DispatchPlan {
  return {
    destination,
    isConsented: () => true,
    decide({ isTest, sourceId }) {
      if (isTest) return { kind: 'skip', rule: 'test' };
      if (!destination.isEnabled) return { kind: 'skip', rule: 'disabled' };
      return sourceId === destination.id ? { kind: 'send' } : { kind: 'skip', rule: 'source' };
    },
  };
}

function prepareFetch(fetch: NoticeFetch, access: FetchAccess): OfferedDestination {
  return {
    order: 'none',
    batchEventsMax: 1,
    maskerOf: (request) => createSecretMasker([access.token, ...secretsInRequest(request)]),
    accepts: ({ resolved }) => fetch.request(resolved.event.event_properties, access) !== undefined,
    buildRequest(events) {
      const { resolved } = onlyEvent(events);
      const request = fetch.request(resolved.event.event_properties, access);
      if (request === undefined) throw new UnfitEventError('the event is no notice');
      return { ...request, headers: { ...deliveryHeaders(events), ...request.headers }, body: undefined };
    },
    readAnswer(answer, events) {
      const outcome = outcomeOf(fetch, answer);
      return outcome === undefined ? undefined : events.map(() => outcome);
    },
  };
}

function outcomeOf(fetch: NoticeFetch, answer: OutboundAnswer): Outcome | undefined {
  if (answer.status >= 300) return fetch.readFailure(answer);
  return fetchedEvent(fetch, answer) === undefined
    ? { kind: 'reject', reason: 'the answer is about something other than the notice' }
    : undefined;
}

/** The event in an answer; undefined if the answer has none. */
export function fetchedEvent(fetch: NoticeFetch, answer: OutboundAnswer): ProviderEvent | undefined {
  const said = answer.status < 300 ? jsonAnswer(answer) : undefined;
  return said === undefined ? undefined : fetch.readEvent(said);
}
