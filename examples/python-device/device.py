#!/usr/bin/env python3
"""A device for Roomkeeper, written from docs/device-protocol.md: a small room sensor with a screen.

    python3 device.py ADDRESS CODE     enrols with the code of a room, and runs
    python3 device.py                  runs with the state of an earlier run

It needs paho-mqtt, 1.6 or 2 (Debian: apt-get install python3-paho-mqtt).
"""
import argparse
import base64
import collections
import gzip
import json
import os
import random
import ssl
import sys
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from urllib.parse import urlsplit

import paho.mqtt.client as mqtt

DEFAULTS = {"nightMode": False, "language": "en-US"}
MAX_QUEUED_SAMPLES = 10_000
MAX_SAMPLES_PER_MESSAGE = 500
MAX_OUTCOMES = 100
KEEP_ALIVE = 30
UPLOAD_ATTEMPTS = 3


def log(*words):
    print(time.strftime("%H:%M:%S"), *words, flush=True)


def back_off(failures):
    return min(60, 2**failures) * random.uniform(0.5, 1)


class State:
    """What survives a reboot: who the device is, its settings, and the outcomes of the latest operations."""

    def __init__(self, file):
        self.file = file
        self.identity = None
        self.version = 0
        self.settings = {}
        self.rejected = {}
        self.outcomes = {}  # operation id -> the report about it
        self.unreported = []  # ids of operations whose report has no PUBACK yet
        if os.path.exists(file):
            with open(file) as stored:
                self.__dict__.update(json.load(stored))

    def save(self):
        """Replaces the file as a whole, and returns when it is durable."""
        temporary = self.file + ".new"
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as new:
            json.dump({key: value for key, value in self.__dict__.items() if key != "file"}, new)
            new.flush()
            os.fsync(new.fileno())
        os.replace(temporary, self.file)


def enrol(address, code, serial, model):
    """Returns endpointId, credential and connect. Waits and tries again where the protocol says so."""
    body = json.dumps({"code": code, "serial": serial, "model": model}).encode()
    failures = 0
    while True:
        request = urllib.request.Request(
            address.rstrip("/") + "/device/v1/enrol", body, {"Content-Type": "application/json"}
        )
        wait = back_off(failures)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            try:
                message = json.load(error)["message"]
            except (ValueError, KeyError):
                message = str(error)
            if error.code < 500 and error.code not in (409, 429):
                sys.exit(f"Enrolment failed: {message}")
            log("enrolment later:", message)
            wait = float(error.headers.get("Retry-After") or (60 if error.code == 409 else wait))
        except OSError as error:
            log("enrolment later:", error)
        failures += 1
        time.sleep(wait)


class Device:
    def __init__(self, state, interval):
        self.state = state
        self.interval = interval
        self.started_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.samples = collections.deque(maxlen=MAX_QUEUED_SAMPLES)  # drops the oldest when it is full
        self.next_sample = time.monotonic()
        self.in_flight = {}  # message id -> when it was sent, and what to do when its PUBACK comes
        self.sending_samples = 0
        self.is_online = False
        self.reboot_id = None
        # Only a reboot is stored as acknowledged, and it has happened by now.
        for operation, report in state.outcomes.items():
            if report["state"] == "ACKNOWLEDGED":
                report["state"] = "SUCCEEDED"
                state.unreported.append(operation)
        state.save()

    # Connection

    def run(self):
        addresses = self.state.identity["connect"]
        # Never a plain address if there is an encrypted one. This device does not speak WebSocket.
        usable = [a for a in addresses if a.startswith("mqtts:")] or [a for a in addresses if a.startswith("mqtt:")]
        if not usable:
            sys.exit(f"This device does not speak WebSocket, and the service has no other address: {', '.join(addresses)}")
        failures = 0
        attempt = 0
        while True:
            connected_at = time.monotonic()
            if not self.connect(usable[attempt % len(usable)]):
                attempt += 1
            if time.monotonic() - connected_at >= 60:
                failures = 0
            until = time.monotonic() + back_off(failures)
            failures += 1
            while time.monotonic() < until:
                self.measure()
                time.sleep(0.05)

    def connect(self, address):
        """Holds one connection until it ends. Returns whether the service accepted it."""
        # A new client for each connection: the service keeps no session, and this device sends again what was not acknowledged.
        arguments = [mqtt.CallbackAPIVersion.VERSION2] if hasattr(mqtt, "CallbackAPIVersion") else []
        client = mqtt.Client(*arguments, client_id="", protocol=mqtt.MQTTv311)
        client.username_pw_set(self.state.identity["endpointId"], self.state.identity["credential"])
        client.on_connect = self.on_connect
        client.on_subscribe = self.on_subscribe
        client.on_message = self.on_message
        client.on_publish = self.on_publish
        parts = urlsplit(address)
        if parts.scheme == "mqtts":
            client.tls_set_context(ssl.create_default_context())
        self.in_flight.clear()
        self.sending_samples = 0
        self.was_accepted = False
        try:
            client.connect(parts.hostname, parts.port, keepalive=KEEP_ALIVE)
            while client.loop(timeout=0.1) == mqtt.MQTT_ERR_SUCCESS and not self.is_overdue():
                self.measure()
                self.send_samples(client)
                if self.reboot_id and self.reboot_id not in self.state.unreported:
                    self.reboot(client)
        except OSError as error:
            log("no connection:", error)
        if self.is_online:
            log("disconnected")
        self.is_online = False
        return self.was_accepted

    def on_connect(self, client, userdata, flags, code, *_):
        if code != 0:
            log("the service does not accept the connection:", code)  # and is asked again: nothing is deleted
            return
        self.was_accepted = True
        self.report_config(client)
        self.publish(client, "status", self.status())
        for operation in list(self.state.unreported):
            self.report(client, operation)
        client.subscribe(f"v1/{self.state.identity['endpointId']}/down/#", qos=1)

    def on_subscribe(self, *_):
        self.is_online = True
        log("connected")

    def publish(self, client, kind, body, on_acknowledged=None):
        topic = f"v1/{self.state.identity['endpointId']}/up/{kind}"
        mid = client.publish(topic, json.dumps(body), qos=1).mid
        self.in_flight[mid] = (time.monotonic(), on_acknowledged)

    def on_publish(self, client, userdata, mid, *_):
        _, on_acknowledged = self.in_flight.pop(mid, (None, None))
        if on_acknowledged:
            on_acknowledged()

    def is_overdue(self):
        """A PUBACK is missing for one and a half keep-alives: connect again."""
        return any(time.monotonic() - sent_at > 1.5 * KEEP_ALIVE for sent_at, _ in self.in_flight.values())

    # Status and samples

    def status(self):
        return {
            "name": "Python device",
            "manufacturer": "Example",
            "kind": "SENSOR",
            "firmwareVersion": "1.0.0",
            "startedAt": self.started_at,
            "sensors": ["temp", "people"],
            "actions": ["reboot", "message", "logs", "config"],
            "configKeys": list(DEFAULTS),
        }

    def measure(self):
        if time.monotonic() < self.next_sample:
            return
        self.next_sample = time.monotonic() + self.interval
        temp = round(random.gauss(21, 0.5), 1)
        self.samples.append({"timestamp": int(time.time()), "temp": temp, "people": random.randint(0, 6)})

    def send_samples(self, client):
        """Sends one message at a time. Samples stay in the queue until its PUBACK comes."""
        if not self.is_online or self.sending_samples or not self.samples:
            return
        message = [self.samples[i] for i in range(min(len(self.samples), MAX_SAMPLES_PER_MESSAGE))]
        self.sending_samples = len(message)

        def acknowledged():
            for sample in message:
                if self.samples and self.samples[0] is sample:
                    self.samples.popleft()
            self.sending_samples = 0

        self.publish(client, "sample", {"samples": message}, acknowledged)

    # Messages of the service

    def on_message(self, client, userdata, message):
        kind = message.topic.rsplit("/", 1)[-1]
        body = json.loads(message.payload)
        if kind == "config":
            self.apply_config(client, body)
        elif kind == "operation":
            self.operate(client, body)
        elif kind in ("message-refused", "sample-refused", "keys-ignored"):
            log(kind, body)  # for the developer; nothing is sent again

    def apply_config(self, client, desired):
        """`config` is the whole desired state: what it does not name goes back to its default."""
        self.state.settings, self.state.rejected = {}, {}
        for key, value in desired["config"].items():
            if key not in DEFAULTS:
                self.state.rejected[key] = "This device does not have this setting."
            elif type(value) is not type(DEFAULTS[key]):
                self.state.rejected[key] = "This device cannot use this value."
            else:
                self.state.settings[key] = value
        self.state.version = desired["version"]
        self.state.save()
        log("config", self.state.version, self.state.settings)
        self.report_config(client)

    def report_config(self, client):
        config = {**DEFAULTS, **self.state.settings}
        self.publish(
            client, "config", {"version": self.state.version, "config": config, "rejected": self.state.rejected}
        )

    def operate(self, client, command):
        operation, kind = command["id"], command["type"]
        if kind == "UNENROL":
            os.remove(self.state.file)
            log("unenrolled: this device is new again")
            sys.exit()
        if operation in self.state.outcomes and kind != "COLLECT_LOGS":
            return self.report(client, operation)
        if datetime.fromisoformat(command["deadline"].replace("Z", "+00:00")) <= datetime.now(timezone.utc):
            return
        log("operation", kind)
        if kind == "REBOOT":
            self.reboot_id = operation  # after the PUBACK
            self.finish(client, operation, "ACKNOWLEDGED")
        elif kind == "MESSAGE":
            log("on the screen for 60 seconds:", command["message"])
            self.finish(client, operation, "SUCCEEDED")
        elif kind == "COLLECT_LOGS":
            self.upload_logs(client, operation, command["logs"])
        else:
            self.finish(client, operation, "FAILED", f"This device does not know {kind}.")

    def finish(self, client, operation, state, error=None):
        """Stores the outcome first: a command that comes again is answered from there."""
        report = {"id": operation, "state": state}
        if error:
            report["error"] = error[:255]
        self.state.outcomes[operation] = report
        self.state.outcomes = dict(list(self.state.outcomes.items())[-MAX_OUTCOMES:])
        if operation not in self.state.unreported:
            self.state.unreported.append(operation)
        self.state.save()
        self.report(client, operation)

    def report(self, client, operation):
        def acknowledged():
            if operation in self.state.unreported:
                self.state.unreported.remove(operation)
                self.state.save()

        report = self.state.outcomes[operation]
        kind = "logs" if report["state"] in ("UPLOADED", "URL_WANTED") else "operation"
        self.publish(client, kind, report, acknowledged)

    def upload_logs(self, client, operation, wanted):
        self.publish(client, "operation", {"id": operation, "state": "ACKNOWLEDGED"})
        bundle = gzip.compress(b"all is well\n")
        user = f"{self.state.identity['endpointId']}:{self.state.identity['credential']}"
        headers = {
            "Authorization": "Basic " + base64.b64encode(user.encode()).decode(),
            "Content-Type": "application/gzip",
        }
        error = None
        for attempt in range(UPLOAD_ATTEMPTS):
            request = urllib.request.Request(wanted["uploadUrl"], bundle, headers, method="PUT")
            wait = back_off(attempt)
            try:
                urllib.request.urlopen(request, timeout=10).close()
                return self.finish(client, operation, "UPLOADED")
            except urllib.error.HTTPError as refusal:
                log("upload refused:", refusal.code)
                if refusal.code == 403:
                    return self.finish(client, operation, "URL_WANTED")  # the operation comes again
                error = f"The service refused the logs ({refusal.code})."
                if refusal.code < 500 and refusal.code != 429:
                    break
                # A device that can wait longer without missing its keep-alive waits for the whole time.
                wait = min(10, float(refusal.headers.get("Retry-After") or wait))
            except OSError as failure:
                error = f"The logs could not be uploaded: {failure}"
            time.sleep(wait)
        self.finish(client, operation, "FAILED", error)

    def reboot(self, client):
        """A real device reboots its hardware. This one starts its program again."""
        log("rebooting")
        client.disconnect()
        os.execv(sys.executable, [sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description="An example device for Roomkeeper.")
    parser.add_argument("address", nargs="?", help="address of the service")
    parser.add_argument("code", nargs="?", help="enrolment code of a room")
    parser.add_argument("--serial", default="PY-0001")
    parser.add_argument("--model", default="EXAMPLE1")
    parser.add_argument("--state", default="device.json", help="file that survives a reboot")
    parser.add_argument("--interval", type=float, default=60, help="seconds between samples")
    options = parser.parse_args()
    state = State(options.state)
    if not state.identity:
        if not options.code:
            parser.error("the device is new: give it the address of the service and the code of a room")
        state.identity = enrol(options.address, options.code, options.serial, options.model)
        state.save()
        log("enrolled as", state.identity["endpointId"])
    try:
        Device(state, options.interval).run()
    except KeyboardInterrupt:
        pass


main()
