import type { ReactElement } from 'react';
import { Link } from 'react-router';
import icon from '../icon.svg';

export function Logo(): ReactElement {
  return (
    <Link className="brand" to="/">
      <img src={icon} alt="" width="24" height="24" />
      Sluice
    </Link>
  );
}
