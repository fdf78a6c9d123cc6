import type { Subject } from '../../plan/property-path.ts';
import type { JsonObject } from '../../process/json.ts';
import { compileBodyTemplate } from '../sdk/templates.ts';
import { defineDestination, SettingError, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import { identifyingHeaders } from '../sdk/http.ts';
import { isHeaderValue, readHeaders } from '../sdk/http.ts';
import { optionalTextSetting, textSetting } from '../sdk/settings.ts';
import { templateSetting, templateSubject } from '../sdk/templates.ts';
import { compileUrlTemplate } from '../sdk/templates.ts';

const methods = ['POST', 'PUT', 'PATCH', 'GET'] as const;
const standardContentType = 'application/json';

/**
 * A request of the user's own making: URL, method, headers and body are templates over the event and its visitor, in
 * the language of mappings. Every value is written for the place it stands in, so that no event changes the request's
 * shape; where a value fits no header, or makes another method or host, the event is refused.
 */
export const httpCustomRequest = defineDestination({
  descriptor: {
    id: 'HTTPCustomRequest',
    label: 'HTTP Custom Request',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'url',
        label: 'URL',
        placeholder: 'https://example.com/users/{{visitor.id}}',
        sublabel: 'Placeholders may stand after the host. Redirects are not followed.',
        required: true,
      },
      {
        type: 'Text',
        key: 'method',
        label: 'Method',
        placeholder: 'POST',
        sublabel: `${methods.join(', ')}, or a template that makes one of them.`,
        required: null,
      },
      {
        type: 'Secret',
        key: 'headers',
        label: 'Headers',
        placeholder: '{"X-Event": "{{event.event}}"}',
        sublabel: 'A JSON object of strings; their values may have placeholders.',
        required: null,
      },
      {
        type: 'Text',
        key: 'body',
        label: 'Body',
        placeholder: '{"name": "{{event.event}}", "value": {{event.event_properties.value}}}',
        sublabel: 'Written as its Content-Type says, application/json without one. Empty: no body.',
        required: null,
      },
    ],
  },
  exampleSettings: {
    url: 'https://example.com/users/{{visitor.id}}?event={{event.event}}',
    method: 'POST',
    headers: '{"Authorization":"Bearer example","X-Source":"{{event.source_id}}"}',
    body: '{"name": "{{event.event}}", "at": {{event.time}}, "properties": {{event.event_properties}}}',
  },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const url = compileUrlTemplate('url', textSetting(settings, 'url'));
  const method = compileMethod(optionalTextSetting(settings, 'method') ?? 'POST');
  const given = readHeaders('headers', settings['headers']);
  const headers = Object.entries(given).map(([name, text]) => ({ name, value: templateSetting('headers', text) }));
  const contentType = given['content-type'] ?? standardContentType;
  if (contentType.includes('{{')) throw new SettingError('headers', 'must name the content type without placeholders');
  const bodyText = optionalTextSetting(settings, 'body');
  const body = bodyText === undefined ? undefined : compileBodyTemplate('body', bodyText, contentType);
  return {
    batchEventsMax: 1,
    buildRequest([event]): OutboundRequest {
      if (event === undefined) throw new UnfitEventError('there is no event');
      const subject = templateSubject(event);
      const rendered: Record<string, string> = { 'user-agent': 'Sluice/1 (+HTTPCustomRequest)' };
      if (body !== undefined) rendered['content-type'] = contentType;
      for (const { name, value } of headers) rendered[name] = headerValue(value.renderText(subject));
      const sent = { ...rendered, ...identifyingHeaders([event]) };
      return { method: method(subject), url: url(subject), headers: sent, body: body?.(subject) };
    },
  };
}

type Method = OutboundRequest['method'];

function compileMethod(text: string): (subject: Subject) => Method {
  const template = templateSetting('method', text);
  const find = (name: string): Method | undefined => methods.find((method) => method === name.trim().toUpperCase());
  if (!text.includes('{{') && find(text) === undefined) {
    throw new SettingError('method', `must be one of ${methods.join(', ')}`);
  }
  return (subject) => {
    const method = find(template.renderText(subject));
    if (method === undefined) throw new UnfitEventError('the values make no method that can be sent');
    return method;
  };
}

function headerValue(text: string): string {
  if (!isHeaderValue(text)) throw new UnfitEventError('a value does not fit in a header');
  return text;
}
