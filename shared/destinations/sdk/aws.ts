import aws4 from 'aws4';
import { jsonAnswer } from './answers.ts';
import type { OutboundAnswer, OutboundEvent, OutboundRequest, Outcome } from './destination.ts';
import { deliveryHeaders } from './http.ts';
import { address, matching, optionalBaseUrl, optionalSecret, requiredSecret, requiredText } from './settings.ts';
import type { SettingsOf } from './settings.ts';

const plainText = matching(/^[\x21-\x7e]+$/, 'must be text without spaces and line breaks');

/** The settings every service of AWS asks for. */
export function awsSettings(service: string) {
  return {
    region: address(
      requiredText(
        { label: 'Region', placeholder: 'eu-central-1', example: 'eu-central-1' },
        matching(/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/, 'must be one such as eu-central-1'),
      ),
    ),
    accessKeyId: requiredText({ label: 'Access key id', placeholder: 'AKIA…', example: 'AKIDEXAMPLE' }, plainText),
    secretAccessKey: requiredSecret({ label: 'Secret access key', example: 'example-secret-access-key' }),
    sessionToken: optionalSecret({ label: 'Session token', sublabel: 'Only for temporary credentials.' }, plainText),
    baseUrl: optionalBaseUrl(`https://${service}.<region>.amazonaws.com`),
  };
}

export type AwsSettings = SettingsOf<ReturnType<typeof awsSettings>>;

export type AwsCall = {
  /** Signed, and what the signature needs is added. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Below the root of the service; the root itself where nothing is said. */
  readonly path?: string;
  /** What the body carries. */
  readonly events: readonly OutboundEvent[];
};

/** Makes a POST to a service, signed for the time of the attempt. */
export type MakeAwsRequest = (call: AwsCall, nowMs: number) => OutboundRequest;

/**
 * Signs for a service with Signature Version 4,
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html.
 */
export function prepareAwsRequests(
  service: string,
  { region, accessKeyId, secretAccessKey, sessionToken, baseUrl }: AwsSettings,
): MakeAwsRequest {
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const root = `${baseUrl ?? `https://${service}.${region}.${domain}`}/`;
  return ({ headers, body, path = '', events }, nowMs) => {
    const url = new URL(root + path);
    const { headers: signed = {} } = aws4.sign(
      {
        service,
        region,
        method: 'POST',
        host: url.host,
        path: url.pathname,
        headers: { ...headers, 'x-amz-date': amzDate(nowMs) },
        body,
      },
      credentials,
    );
    return { method: 'POST', url: url.href, headers: { ...deliveryHeaders(events), ...toHeaders(signed) }, body };
  };
}

/** The sender writes the host and the length itself, and writes what was signed. */
const sentAnyway: ReadonlySet<string> = new Set(['host', 'content-length']);

function toHeaders(signed: NodeJS.Dict<unknown>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(signed)) {
    const lower = name.toLowerCase();
    if (!sentAnyway.has(lower)) headers[lower] = String(value);
  }
  return headers;
}

function amzDate(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
}

// Services write one code in several ways: KMSNotFound, KmsNotFound, KMSNotFoundException. Below each stands once, in
// lower case, without what stands before a dot and without Exception at its end.

/** Codes of trouble that passes, whatever status they come with. */
const passing: ReadonlySet<string> = new Set([
  'internalerror',
  'internalfailure',
  'requesttimeout',
  'serviceunavailable',
]);

/** Codes that say that too much is asked: of AWS that is a 400 as a rule, or stands beside single records. */
const throttling: ReadonlySet<string> = new Set([
  'kmsthrottled',
  'kmsthrottling',
  'limitexceeded',
  'priorrequestnotcomplete',
  'provisionedthroughputexceeded',
  'requestthrottled',
  'slowdown',
  'throttled',
  'throttling',
  'toomanyrequests',
]);

/**
 * Codes that say that the key is unknown, has expired or lacks a right, or that the stream, topic, queue, bus or function is
 * missing: no event is at fault.
 */
const ofAccess: ReadonlySet<string> = new Set([
  'accessdenied',
  'authorizationerror',
  'expiredtoken',
  'incompletesignature',
  'invalidclienttokenid',
  'invalidsecurity',
  'invalidsignature',
  'kmsaccessdenied',
  'kmsdisabled',
  'kmsinvalidstate',
  'kmsnotfound',
  'kmsoptinrequired',
  'missingauthenticationtoken',
  'nonexistentqueue',
  'notauthorized',
  'notauthorizedforsource',
  'notfound',
  'queuedoesnotexist',
  'resourcenotfound',
  'signaturedoesnotmatch',
  'unrecognizedclient',
]);

/** Codes that may be the fault of one event among many. */
const perhapsOneEvent: ReadonlySet<string> = new Set([
  'batchrequesttoolong',
  'invalidargument',
  'invalidmessagecontents',
  'invalidparameter',
  'invalidparametervalue',
  'parametervalueinvalid',
  'serialization',
  'validation',
  'validationerror',
]);

const plainCode = (code: string): string =>
  code
    .slice(code.lastIndexOf('.') + 1)
    .toLowerCase()
    .replace(/exception$/, '');

/** The code of an answer in JSON: `{"__type": "com.amazonaws.kinesis.v20131202#ResourceNotFoundException", …}`. */
export function awsErrorCode(answer: OutboundAnswer): string | undefined {
  const type = jsonAnswer(answer)?.['__type'];
  return typeof type === 'string' ? type.slice(type.indexOf('#') + 1) : undefined;
}

/** What an error code of AWS means for the event it is about. */
export function awsOutcome(code: string): Outcome {
  const reason = /^[\w.]{1,64}$/.test(code) ? code : 'an error without a known code';
  const plain = plainCode(code);
  if (throttling.has(plain)) return { kind: 'retry', reason, isThrottled: true };
  if (ofAccess.has(plain)) return { kind: 'retry', reason, refusesAccess: true };
  return passing.has(plain) ? { kind: 'retry', reason } : { kind: 'reject', reason };
}

/**
 * What an error of a whole request means for its events. Undefined where the status says it all, where the answer names
 * no code, or where one event among several may be at fault.
 */
export function awsFailure(
  { status }: OutboundAnswer,
  code: string | undefined,
  events: readonly OutboundEvent[],
): readonly Outcome[] | undefined {
  if ((status !== 400 && status !== 404) || code === undefined) return undefined;
  if (events.length > 1 && perhapsOneEvent.has(plainCode(code))) return undefined;
  const outcome = awsOutcome(code);
  return events.map(() => outcome);
}
