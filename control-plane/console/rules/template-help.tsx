import type { ReactElement } from 'react';

/** The syntax of templates, with examples. */
export function TemplateHelp(): ReactElement {
  return (
    <details>
      <summary>Template syntax</summary>
      <dl className="facts">
        <dt>A value</dt>
        <dd>
          <code>{'{{event.event_properties.total}}'}</code> keeps its type: a number stays a number. If the path has no
          value, the property is left out.
        </dd>
        <dt>A constant</dt>
        <dd>
          Text without braces is sent as it is: <code>EUR</code>.
        </dd>
        <dt>Text around values</dt>
        <dd>
          <code>{'Order {{event.event_properties.order_id}}'}</code> is always text; a missing value is empty.
        </dd>
        <dt>Lists</dt>
        <dd>
          <code>{'{{event.event_properties.items}}'}</code> sends the whole list,{' '}
          <code>{'{{event.event_properties.items.0.price}}'}</code> the price of its first item.
        </dd>
        <dt>Defaults and several paths</dt>
        <dd>
          Add several rows for one property: the last row that has a value is used. Put the default first, such as{' '}
          <code>EUR</code>, and the preferred path last.
        </dd>
        <dt>Objects</dt>
        <dd>
          A dot in the name of the property sets it within an object: <code>user_data.email</code>.
        </dd>
      </dl>
    </details>
  );
}
