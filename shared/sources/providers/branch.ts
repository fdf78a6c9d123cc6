import { mergeMembers } from '../../json/exact-numbers.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { textOf } from '../sdk/path.ts';
import { campaignContext, defineSourceKind } from '../sdk/source-kind.ts';

/** Branch writes this text for values that an SDK does not have. */
const noValue = 'bnc_no_value';

/** Branch: app and link events in its event ontology, in the default body of a POST webhook. */
export const branch = defineSourceKind({
  type: 'Branch',
  label: 'Branch',
  setUp: 'Data Feeds, Webhooks: the address, POST, and the event; leave the body as it is',
  notes: 'Branch signs nothing. `developer_identity` is the external id, so set it to your own.',
  follows: [
    'https://help.branch.io/developer-hub/data-integration-webhooks-for-developers',
    'https://help.branch.io/developer-hub/postback-macros-functions',
  ],
  table: {
    name: ['customer_event_alias', 'name'],
    id: ['id'],
    // Events that differ stay two even if they have one id.
    idCoversContent: true,
    time: ['event_timestamp', 'timestamp'],
    externalId: ['user_data.developer_identity'],
    traits: { country: ['user_data.country', 'user_data.geo_country_code'] },
    context: {
      ...campaignContext((name) => [`last_attributed_touch_data.${name}`]),
      utm_source: ['last_attributed_touch_data.~advertising_partner_name', 'last_attributed_touch_data.~channel'],
      utm_campaign: ['last_attributed_touch_data.~campaign'],
      referrer: ['last_attributed_touch_data.+referrer'],
      current_url: ['last_attributed_touch_data.$canonical_url'],
    },
    ip: ['user_data.ip'],
    userAgent: ['user_data.user_agent'],
  },
  prepare(event) {
    const user = event['user_data'];
    if (!isJsonObject(user) || textOf(user['developer_identity']) !== noValue) return event;
    const others = mergeMembers(user);
    delete others['developer_identity'];
    return mergeMembers(event, { user_data: others });
  },
});
