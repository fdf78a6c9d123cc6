import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, erasureDelete, erasureGet, inTurn, manual, requested } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';
import { isHeaderValue } from '../sdk/header-rules.ts';
import { matching, optionalSecret, optionalText, SettingError } from '../sdk/settings.ts';

/** Hosts of PostHog's app API, which differ from the hosts that receive events. */
const hosts: Readonly<Record<string, string>> = { US: 'https://us.posthog.com', EU: 'https://eu.posthog.com' };

export const posthogErasureSettings = {
  projectId: optionalText(
    {
      label: 'Project ID',
      placeholder: '12345',
      sublabel: 'From Project settings, General. Only needed to forward erasures.',
    },
    matching(/^\d{1,12}$/, 'must be a number'),
  ),
  personalApiKey: optionalSecret(
    {
      label: 'Personal API key',
      placeholder: 'phx_…',
      sublabel: 'With the scopes person:read and person:write. Only needed to forward erasures.',
    },
    (text, key) => {
      if (!isHeaderValue(text.trim())) throw new SettingError(key, 'must be one line of printable characters');
      return text.trim();
    },
  ),
};

type Given = {
  readonly projectId: string | undefined;
  readonly personalApiKey: string | undefined;
  readonly region: { readonly value: string };
  readonly baseUrl: string | undefined;
};

/**
 * PostHog: `DELETE /api/projects/{id}/persons/{uuid}/?delete_events=true` after `GET …/persons/?distinct_id=`; PostHog
 * deletes the events later. https://posthog.com/docs/privacy/data-deletion
 */
export function eraseAtPosthog({ projectId, personalApiKey, region, baseUrl }: Given): PreparedErasure {
  if (projectId === undefined || personalApiKey === undefined) {
    return manual('The destination has no project ID and personal API key, which erasures need.');
  }
  const base = `${baseUrl ?? hosts[region.value] ?? hosts['US']}/api/projects/${projectId}/persons`;
  const headers = { authorization: `Bearer ${personalApiKey}` };
  return {
    begin({ subject }) {
      return inTurn(
        [...subject.externalIds, ...subject.visitorIds],
        (id, next) =>
          ask(erasureGet(`${base}/?distinct_id=${encodeURIComponent(id)}`, headers), (answer) => {
            const results = jsonAnswer(answer)?.['results'];
            const people = (Array.isArray(results) ? results : []).flatMap((one: unknown) => {
              const uuid = isJsonObject(one) ? (one['uuid'] ?? one['id']) : undefined;
              return typeof uuid === 'string' ? [uuid] : [];
            });
            const [person] = people;
            // A distinct id belongs to at most one person.
            if (person === undefined) return next();
            const url = `${base}/${encodeURIComponent(person)}/?delete_events=true`;
            return ask(erasureDelete(url, headers), next, [404]);
          }),
        requested,
      );
    },
  };
}
