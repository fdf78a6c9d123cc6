import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, done, erasureGet, erasurePost, manual } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';
import { isHeaderValue } from '../sdk/header-rules.ts';
import { optionalSecret, SettingError } from '../sdk/settings.ts';

const hosts: Readonly<Record<string, string>> = {
  US: 'https://mixpanel.com',
  EU: 'https://eu.mixpanel.com',
  IN: 'https://in.mixpanel.com',
};
const idsMax = 2_000;

export const mixpanelErasureSettings = {
  gdprToken: optionalSecret(
    {
      label: 'OAuth token for GDPR',
      sublabel: 'From Profile settings, Data & Privacy. Only needed to forward erasures.',
    },
    (text, key) => {
      if (!isHeaderValue(text.trim())) throw new SettingError(key, 'must be one line of printable characters');
      return text.trim();
    },
  ),
};

type Given = {
  readonly projectToken: string;
  readonly gdprToken: string | undefined;
  readonly region: { readonly value: string };
  readonly baseUrl: string | undefined;
};

/**
 * Mixpanel's GDPR API: `POST /api/app/data-deletions/v3.0/?token=` with up to 2,000 distinct ids; `GET
 * …/{tracking_id}` reports the state. https://docs.mixpanel.com/reference/gdpr-api
 */
export function eraseAtMixpanel({ projectToken, gdprToken, region, baseUrl }: Given): PreparedErasure {
  if (gdprToken === undefined) return manual('The destination has no OAuth token for GDPR, which erasures need.');
  const base = `${baseUrl ?? hosts[region.value] ?? hosts['US']}/api/app/data-deletions/v3.0`;
  const token = `token=${encodeURIComponent(projectToken)}`;
  const headers = { authorization: `Bearer ${gdprToken}` };
  return {
    begin({ subject }) {
      // Events of anonymous visitors have the plain id with original ID merge and the prefixed id with simplified ID
      // merge. The setting may have changed since, so both are named.
      const ids = [...subject.externalIds, ...subject.visitorIds.flatMap((id) => [id, `$device:${id}`])];
      if (ids.length > idsMax) {
        return { kind: 'manual', reason: `Mixpanel deletes up to ${idsMax} ids at once; this visitor has more.` };
      }
      const body = { distinct_ids: ids, compliance_type: 'GDPR' };
      return ask(erasurePost(`${base}/?${token}`, headers, body), (answer) => {
        const results = jsonAnswer(answer)?.['results'];
        const task = isJsonObject(results) ? results['task_id'] : undefined;
        return { kind: 'requested', reference: typeof task === 'string' ? task : undefined };
      });
    },
    poll: (task) =>
      ask(erasureGet(`${base}/${encodeURIComponent(task)}?${token}`, headers), (answer) => {
        const results = jsonAnswer(answer)?.['results'];
        const status = isJsonObject(results) ? results['status'] : undefined;
        if (status === 'SUCCESS') return done;
        if (status === 'FAILURE' || status === 'REVOKED') return { kind: 'failed', reason: `Mixpanel: ${status}` };
        return { kind: 'requested', reference: task };
      }),
  };
}
