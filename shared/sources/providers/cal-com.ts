import { copyMember, mergeMembers } from '../../json/exact-numbers.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { compilePath, valueAt } from '../sdk/path.ts';
import { membersAsFields } from '../sdk/form-fields.ts';
import { bodySignature } from '../sdk/signature.ts';
import { campaignContext, defineSourceKind } from '../sdk/source-kind.ts';

/** Cal.com: bookings, meetings and forms by `triggerEvent`. A booking has many events at different times. */
export const calCom = defineSourceKind({
  type: 'CalComWebhooks',
  label: 'Cal.com',
  setUp: 'Settings, Developer, Webhooks, New: Subscriber URL and Secret',
  notes: 'Cal.com’s default payload is read. In a custom payload template, the fields must keep their names.',
  follows: ['https://cal.com/docs/developing/guides/automation/webhooks'],
  signature: bodySignature({
    header: 'X-Cal-Signature-256',
    algorithm: 'sha256',
    encoding: 'hex',
    secretName: 'Secret',
  }),
  table: {
    name: ['triggerEvent'],
    id: ['payload.uid', 'triggerEvent', 'createdAt'],
    time: ['createdAt'],
    email: ['payload.responses.email.value', 'payload.attendees[0].email'],
    fullName: ['payload.responses.name.value', 'payload.attendees[0].name'],
    traits: { phone_number: ['payload.responses.attendeePhoneNumber.value', 'payload.attendees[0].phoneNumber'] },
    context: campaignContext((name) => [`payload.metadata.${name}`, `payload.tracking.${name}`]),
  },
  prepare(event) {
    const { triggerEvent, payload } = event;
    const timeName = meetingTimes.get(triggerEvent);
    if (timeName === undefined || isJsonObject(payload)) return event;
    const booking = mergeMembers(event);
    delete booking['triggerEvent'];
    const prepared = { triggerEvent, createdAt: booking[timeName] };
    copyMember(prepared, 'payload', { payload: booking });
    return prepared;
  },
  fields: (event) =>
    membersAsFields(valueAt(event, responsesPath)).map(({ label, value }) => ({
      label,
      value: isJsonObject(value) && Object.hasOwn(value, 'value') ? value['value'] : value,
    })),
});

/**
 * These events arrive as the booking itself, without an envelope, so their `createdAt` is when the meeting was booked.
 * The time of each is a member of the booking.
 */
const meetingTimes: ReadonlyMap<unknown, string> = new Map([
  ['MEETING_STARTED', 'startTime'],
  ['MEETING_ENDED', 'endTime'],
]);

const responsesPath = compilePath('payload.responses');
