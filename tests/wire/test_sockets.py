"""A context closes whatever was left open in it, and each list of clients is a domain of its own."""

import threading

import pytest
from weft.scheduler.errors import Misuse
from weft.wire.sockets import Sockets, new_keys


def test_a_context_closes_though_sockets_were_left_open(caplog: pytest.LogCaptureFixture) -> None:
    sockets = Sockets()
    inlet = sockets.inlet()
    inlet.bind("inproc://left")
    outlet = sockets.outlet("inproc://left")
    closing = threading.Thread(target=sockets.close, args=(0.05,), daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()
    assert (inlet.is_closed, outlet.is_closed) == (True, True)
    assert "2 sockets were still open" in caplog.text
    inlet.close()
    outlet.close()


def test_a_context_whose_sockets_are_closed_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    sockets = Sockets()
    sockets.outlet("inproc://nobody").close()
    sockets.close()
    assert caplog.text == ""


def test_a_second_list_of_clients_leaves_the_first_as_it_is() -> None:
    sockets, first, second = Sockets(), new_keys(), new_keys()
    domains = [sockets.allow([first.public]), sockets.allow([second.public]), sockets.allow([first.public])]
    assert domains == ["weft-1", "weft-2", "weft-1"]
    with pytest.raises(Misuse, match="name the domain"):
        sockets.inlet(keys=first, domain="weft-3")
    sockets.close()
